import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { replaceAtomically } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { ProcessProgram } from './process-program.ts';

/** The machine code of PHP's functions, which one process compiles for all later ones. */
export interface KeptCode {
  /** Gives the code to the processes of a program, if there is some for this machine. Returns whether there is. */
  give(program: ProcessProgram): Promise<boolean>;
  /** Keeps the code in a file for this and later servers, in place of that of other versions. */
  keep(file: string, program: ProcessProgram): Promise<void>;
}

/** Beside the folder of the process's code, where compiled-php.ts finds it. */
const NAME = 'php.code';

/**
 * `folder`: created on first use. The name of a file says for which PHP, Node and processor its code is, and what must be in it: V8 runs
 * damaged code, and code of another PHP. `php`: names the installed one.
 */
export function keptCodeIn(folder: string, php = installedPhp): KeptCode {
  async function kept(): Promise<Buffer | null> {
    const begin = `${digestFor(await php())}-`;
    for (const name of (await ifThere(readdir(folder))) ?? []) {
      if (!name.startsWith(begin)) continue;
      const code = await ifThere(readFile(join(folder, name)));
      if (code !== null && name === begin + digestOf(code)) return code;
    }
    return null;
  }

  const give = (code: Buffer, { parts: [own] }: ProcessProgram) =>
    replaceAtomically(join(own.from, NAME), code, { sync: false });

  return {
    async give(program) {
      const code = await kept();
      if (code !== null) await give(code, program);
      return code !== null;
    },

    async keep(file, program) {
      const code = await readFile(file);
      const name = `${digestFor(await php())}-${digestOf(code)}`;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await replaceAtomically(join(folder, name), code);
      for (const other of await readdir(folder)) {
        if (other !== name) await rm(join(folder, other), { recursive: true, force: true });
      }
      await give(code, program);
    },
  };
}

/** The description of the package, which has its version. */
const installedPhp = (): Promise<string> =>
  readFile(createRequire(import.meta.url).resolve('@php-wasm/node-8-4/package.json'), 'utf8');

const digestFor = (php: string): string =>
  digestOf(JSON.stringify([php, process.versions, process.platform, process.arch, cpus()[0]?.model]));

const digestOf = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 32);
