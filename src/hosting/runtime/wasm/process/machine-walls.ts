import childProcess from 'node:child_process';
import fs from 'node:fs';
import { registerHooks } from 'node:module';

const PAGE_BYTES = 64 * 1024;
const MIB = 1024 * 1024;

/** Closes the ways from PHP's program to the machine that nothing needs. Call it before the program is loaded. */
export function raiseWalls({ threadMb }: { threadMb: number }): void {
  // C's `system()` runs a shell of the machine, for example for ImageMagick.
  const refuse = () => {
    throw new Error('PHP starts no programs');
  };
  Object.assign(childProcess, {
    spawn: refuse,
    spawnSync: refuse,
    exec: refuse,
    execSync: refuse,
    execFile: refuse,
    execFileSync: refuse,
    fork: refuse,
  });
  // Emscripten asks for the constants this way, which Node's permission model refuses.
  Object.assign(process, {
    binding(name: string) {
      if (name === 'constants') return { fs: fs.constants };
      throw new Error(`no binding ${name}`);
    },
  });
  // Emscripten loads `ws` and then uses the class that it is given.
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'ws' ? { url: 'node:events', shortCircuit: true } : next(specifier, context),
  });
  capMemory(threadMb * MIB);
}

/** The program allows 2 GiB and never gives memory back. A failed growth is an error of the page in PHP. */
function capMemory(bytes: number): void {
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function capped(pages) {
    if (this.buffer.byteLength + Number(pages) * PAGE_BYTES > bytes)
      throw new RangeError('the memory is at its limit');
    return grow.call(this, pages);
  };
}
