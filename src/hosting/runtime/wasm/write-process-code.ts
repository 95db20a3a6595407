/**
 * Writes the code of a PHP process into a folder, as JavaScript: `node write-process-code.ts FOLDER`. Node would otherwise load its compiler of
 * types into each process and each thread.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

const SOURCES = import.meta.dirname;
const FOLDER = 'process';
const CODE = /(?<!\.test|\.d)\.ts$/;
/** The name of another module of the process, in quotes. */
const LOCAL_NAME = /'(\.\.?\/[\w/.-]+)\.ts'/g;

const [target = ''] = process.argv.slice(2);
const names = readdirSync(join(SOURCES, FOLDER)).filter((name) => CODE.test(name));
mkdirSync(join(target, FOLDER), { recursive: true, mode: 0o700 });
for (const name of ['process-protocol.ts', ...names.map((name) => join(FOLDER, name))]) {
  const code = stripTypeScriptTypes(readFileSync(join(SOURCES, name), 'utf8'));
  writeFileSync(join(target, name.replace(CODE, '.mjs')), code.replaceAll(LOCAL_NAME, "'$1.mjs'"));
}
