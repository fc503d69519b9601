"""[core] The page that asks a browser for the access code; it posts to /api/system/loginAuth and goes back."""

from __future__ import annotations

from typing import Final

SIGNIN_PAGE: Final = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign in</title>
<style>body{font:16px system-ui,sans-serif;max-width:22em;margin:15vh auto;padding:0 1em}
input,button{font:inherit;width:100%;box-sizing:border-box;margin:.3em 0;padding:.5em}#say{color:#b00;min-height:1.4em}</style>
<form id="form"><label>Access code <input id="code" type="password" autofocus></label>
<p id="picture" hidden><img alt="captcha"><input id="captcha" placeholder="captcha"></p>
<button>Sign in</button><p id="say" role="alert"></p></form>
<script>
const byId = id => document.getElementById(id);
byId("form").onsubmit = async event => {
  event.preventDefault();
  const body = {authCode: byId("code").value, captcha: byId("captcha").value};
  const answer = await (await fetch("/api/system/loginAuth", {method: "POST", body: JSON.stringify(body)})).json();
  if (answer.code === 0) {
    const to = new URLSearchParams(location.search).get("to") || "/";
    location.href = to.startsWith("/") && !to.startsWith("//") ? to : "/";
    return;
  }
  byId("say").textContent = answer.msg;
  if (answer.code === 1) {
    byId("picture").hidden = false;
    byId("picture").querySelector("img").src = "/api/system/getCaptcha?v=" + Date.now();
  }
};
</script>
</html>
"""
