"""[core] Databases (the kernel's attribute views): files of keys, values and views, how they are shown and changed.

``format`` is the file, ``store`` the folder, ``database`` one of them in memory; ``rendering`` shows one, the other
modules change one; ``actions`` are the changes as ``/api/transactions`` knows them.
"""
