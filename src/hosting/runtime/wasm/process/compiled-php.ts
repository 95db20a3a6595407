import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

/** Machine code of PHP, beside the code of this process, if an earlier process kept it. */
export const KEPT_CODE = join(import.meta.dirname, '..', 'php.code');

/**
 * Loads PHP with the kept machine code, if there is some that fits this V8 and this processor. Node offers V8's own way to keep code in no
 * other form.
 */
export async function compilePhp(wasm: string, kept = KEPT_CODE): Promise<WebAssembly.Module> {
  const [bytes, code] = await Promise.all([readFile(wasm), readFile(kept).catch(() => null)]);
  const module = (code && restored(code, bytes)) ?? (await WebAssembly.compile(bytes));
  // The module has a copy of these 25 MB, and this thread collects garbage rarely.
  for (const { buffer } of [bytes, ...(code === null ? [] : [code])]) {
    if (buffer instanceof ArrayBuffer) buffer.transfer(0);
  }
  return module;
}

/** Loads PHP so that V8 optimizes each function when PHP first calls it, in place of the few that are called often. */
export async function compilePhpToKeep(wasm: string): Promise<WebAssembly.Module> {
  setFlagsFromString('--no-liftoff');
  return WebAssembly.compile(await readFile(wasm));
}

/** Writes the code of all functions that PHP has called since {@link compilePhpToKeep}. */
export async function keepCode(module: WebAssembly.Module, path: string): Promise<void> {
  // V8 refuses code of processes with other flags.
  setFlagsFromString('--liftoff');
  const code = withNatives('return %SerializeWasmModule(module)', { module });
  if (!(code instanceof ArrayBuffer)) throw new Error('V8 gave no code');
  await writeFile(path, new Uint8Array(code), { mode: 0o600 });
}

function restored({ buffer }: Buffer, bytes: Buffer): WebAssembly.Module | null {
  const module = withNatives('return %DeserializeWasmModule(code, bytes)', { code: buffer, bytes });
  return module instanceof WebAssembly.Module ? module : null;
}

/** Runs a line with functions of V8 that scripts do not have. */
function withNatives(line: string, given: Record<string, unknown>): unknown {
  setFlagsFromString('--allow-natives-syntax');
  try {
    return new Function(...Object.keys(given), line)(...Object.values(given));
  } finally {
    setFlagsFromString('--no-allow-natives-syntax');
  }
}
