// Calls one method of the npm package zhi-siyuan-api: zhi_library.mjs PACKAGES URL TOKEN METHOD ARGUMENT… (JSON).
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, base, token, method, ...given] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${packages}/package.json`));
globalThis.window ??= globalThis;
const { SiyuanKernelApi, SiyuanConfig } = await import(pathToFileURL(require.resolve("zhi-siyuan-api")));

const sorted = (value) =>
  Array.isArray(value)
    ? value.map(sorted)
    : value && typeof value === "object"
      ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
      : value;

const write = console.log;
console.log = console.info = console.warn = console.error = () => {}; // its own log bears times
try {
  const api = new SiyuanKernelApi(new SiyuanConfig(base, token));
  const said = await api[method](...given.map((one) => JSON.parse(one)));
  write(JSON.stringify(sorted(said), null, 1) ?? "undefined");
} catch (error) {
  write(`${error}`);
  process.exitCode = 1;
}
