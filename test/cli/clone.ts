import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FIRST_SCRIPTS } from '../../web/first-page.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Copies the sources as a clone has them, never built, without packages. A portal of empty pages takes a tenth of the time to build. */
export function makeClone(clone: string): void {
  mkdirSync(clone);
  for (const name of ['bin', 'src', 'web', 'packages', 'package.json', 'package-lock.json']) {
    cpSync(join(ROOT, name), join(clone, name), {
      recursive: true,
      filter: (file) => relative(ROOT, file) !== join('web', 'dist'),
    });
  }
  for (const script of FIRST_SCRIPTS) writeFileSync(join(clone, 'web', script), 'export default null;\n');
  const imports = FIRST_SCRIPTS.map((script) => `void import('./${script}');\n`);
  writeFileSync(join(clone, 'web', 'main.tsx'), `document.body.append("A portal");\n${imports.join('')}`);
}

/** Links the packages into a clone, which has separate caches. It never builds the program, because that takes many seconds of a processor. */
export function linkPackages(clone: string): void {
  const folder = join(clone, 'node_modules');
  mkdirSync(folder);
  writeFileSync(join(clone, 'bin', 'build-program.ts'), '');
  for (const name of readdirSync(join(ROOT, 'node_modules')).filter((one) => one !== '.cache')) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, name));
  }
}
