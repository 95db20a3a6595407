import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
/** `(func (export "add") (param i32 i32) (result i32) local.get 0 local.get 1 i32.add)` */
const WASM = '0061736d0100000001070160027f7f017f030201000707010361646400000a09010700200020016a0b';
let folder: string;
let wasm: string;
let code: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'compiled-'));
  wasm = join(folder, 'add.wasm');
  code = join(folder, 'code');
  await writeFile(wasm, Buffer.from(WASM, 'hex'));
  await inProcess(`const module = await compilePhpToKeep(${JSON.stringify(wasm)});
    new WebAssembly.Instance(module).exports.add(1, 2);
    await keepCode(module, ${JSON.stringify(code)});`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** In another process, because flags of V8 apply to the whole process. */
async function inProcess(script: string): Promise<string> {
  const module = JSON.stringify(new URL('./compiled-php.ts', import.meta.url).href);
  const whole = `import { compilePhp, compilePhpToKeep, keepCode } from ${module};
    ${script}`;
  const { stdout } = await run(process.execPath, ['--no-warnings', '--input-type=module', '--eval', whole]);
  return stdout;
}

const add = (kept: string, before = '') =>
  inProcess(`${before}
    const module = await compilePhp(${JSON.stringify(wasm)}, ${JSON.stringify(kept)});
    console.log(new WebAssembly.Instance(module).exports.add(2, 3));`);

const NOT_COMPILED = "WebAssembly.compile = () => { throw new Error('compiled again'); };";

it('takes kept code in place of compiling', async () => {
  expect(await add(code, NOT_COMPILED)).toBe('5\n');
});

it('compiles without kept code, and with code of another V8', async () => {
  expect(await add(join(folder, 'none'))).toBe('5\n');
  const other = await readFile(code);
  other.writeUInt32LE(0, 4);
  await writeFile(join(folder, 'other'), other);
  await expect(add(join(folder, 'other'), NOT_COMPILED)).rejects.toThrow('compiled again');
  expect(await add(join(folder, 'other'))).toBe('5\n');
});
