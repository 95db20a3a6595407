/**
 * `npm run docs:site`: builds the documentation as a static site with search into `dist/docs`. `npm run docs:site -- --serve` shows it while
 * it is written. The site works at any address: `--base /docs/` is the path of its first page.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { describedApi } from '../../src/app/description.ts';
import { ROOT } from './sections.ts';
import { stage } from './stage.ts';

const FOLDER = import.meta.dirname;
const { values } = parseArgs({
  options: { base: { type: 'string', default: '/' }, serve: { type: 'boolean', default: false } },
});

if (!existsSync(join(FOLDER, 'node_modules/vitepress'))) {
  process.stdout.write('Installing what builds the site, once.\n');
  run('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund']);
}
const { navigation } = stage(join(FOLDER, 'pages'), describedApi());
writeFileSync(join(FOLDER, 'navigation.json'), JSON.stringify(navigation));
const out = join(ROOT, 'dist/docs');
// VitePress runs on the Node of this process.
run(process.execPath, [
  join(FOLDER, 'node_modules/vitepress/bin/vitepress.js'),
  ...(values.serve ? ['dev', FOLDER] : ['build', FOLDER, '--outDir', out]),
  '--base',
  values.base,
]);
if (!values.serve) process.stdout.write(`The site is in ${out}. Serve this folder with any web server.\n`);

function run(program: string, words: string[]): void {
  const path = `${dirname(process.execPath)}:${process.env.PATH}`;
  const { status } = spawnSync(program, words, {
    cwd: FOLDER,
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
  if (status !== 0) process.exit(status ?? 1);
}
