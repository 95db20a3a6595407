import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export interface Generation {
  /** Where the generators are, from this run or an earlier one. */
  tools: string;
  /** For the client. */
  folder: string;
  /** The file with the description. */
  description: string;
  environment: Record<string, string>;
}

interface Generator {
  name: string;
  /** Programs that have to be installed. */
  programs: string[];
  /** Generates, compiles and uses a client. Returns the number of its model files. */
  run(generation: Generation): Promise<number>;
}

const PROGRAMS = fileURLToPath(new URL('programs', import.meta.url));

const NODE_PACKAGES = [
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  '@hey-api/openapi-ts@0.99.0',
  'typescript@5.9.3',
  '@types/node@24.19.2',
];
const PYTHON_PACKAGES = ['openapi-python-client==0.29.1', 'openapi-generator-cli==7.26.0'];

export const GENERATORS: readonly Generator[] = [
  { name: 'openapi-typescript', programs: ['npm'], run: openapiTypescript },
  { name: 'hey-api', programs: ['npm'], run: heyApi },
  { name: 'openapi-python-client', programs: ['python3'], run: pythonClient },
  { name: 'openapi-generator-go', programs: ['python3', 'java', 'go'], run: openapiGeneratorGo },
];

async function openapiTypescript({ tools, description, environment }: Generation): Promise<number> {
  const bin = await installNodePackages(tools);
  // Inside the tools, so that the program finds its packages.
  const place = emptyFolder(join(tools, 'openapi-typescript'));
  await execute(join(bin, 'openapi-typescript'), [description, '-o', join(place, 'api.d.ts')]);
  await compileAndRun(bin, place, 'openapi-typescript', environment);
  return 1;
}

async function heyApi({ tools, description, environment }: Generation): Promise<number> {
  const bin = await installNodePackages(tools);
  const place = emptyFolder(join(tools, 'hey-api'));
  await execute(join(bin, 'openapi-ts'), ['-i', description, '-o', join(place, 'client')]);
  await compileAndRun(bin, place, 'hey-api', environment);
  return 1;
}

async function compileAndRun(
  bin: string,
  place: string,
  program: string,
  environment: Record<string, string>,
) {
  writeFileSync(join(place, 'package.json'), '{"type": "module"}');
  cpSync(join(PROGRAMS, `${program}.ts.txt`), join(place, 'program.ts'));
  const options = ['--strict', '--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler'];
  await execute(join(bin, 'tsc'), [...options, '--skipLibCheck', '--outDir', 'out', 'program.ts'], {}, place);
  await execute(process.execPath, ['--import', resolver(place), 'out/program.js'], environment, place);
}

/** Node needs file extensions in imports; clients for bundlers have none. */
function resolver(place: string): string {
  const file = join(place, 'resolver.mjs');
  writeFileSync(
    file,
    `import { registerHooks } from 'node:module';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('.') || specifier.endsWith('.js')) return next(specifier, context);
    const url = new URL(specifier + '.js', context.parentURL);
    return next(existsSync(fileURLToPath(url)) ? url.href : specifier + '/index.js', context);
  },
});
`,
  );
  return file;
}

async function pythonClient({ tools, folder, description, environment }: Generation): Promise<number> {
  const bin = await installPythonPackages(tools);
  mkdirSync(folder);
  const client = join(folder, 'homeport_client');
  const options = ['--path', description, '--output-path', client, '--meta', 'none'];
  await execute(join(bin, 'openapi-python-client'), ['generate', ...options]);
  cpSync(join(PROGRAMS, 'openapi-python-client.py'), join(folder, 'program.py'));
  await execute(join(bin, 'python3'), ['-m', 'compileall', '-q', client]);
  await execute(join(bin, 'python3'), ['program.py'], environment, folder);
  return readdirSync(join(client, 'models')).filter((name) => name.endsWith('.py') && !name.startsWith('__'))
    .length;
}

async function openapiGeneratorGo({ tools, folder, description, environment }: Generation): Promise<number> {
  const bin = await installPythonPackages(tools);
  const names = ['--package-name', 'homeport', '--git-user-id', 'example', '--git-repo-id', 'homeport'];
  await execute(join(bin, 'openapi-generator-cli'), [
    ...['generate', '-i', description, '-g', 'go', '-o', folder],
    ...[...names, '--git-host', 'example.org', '--global-property', 'apiTests=false,modelTests=false'],
    // Without it, two enumerations with the same word do not compile.
    ...['--additional-properties', 'enumClassPrefix=true'],
  ]);
  mkdirSync(join(folder, 'program'));
  cpSync(join(PROGRAMS, 'openapi-generator.go.txt'), join(folder, 'program/main.go'));
  await execute('go', ['vet', './...'], {}, folder);
  await execute('go', ['run', './program'], environment, folder);
  return readdirSync(folder).filter((name) => /^model_.*\.go$/.test(name)).length;
}

async function installNodePackages(tools: string): Promise<string> {
  if (!existsSync(join(tools, 'node_modules/.bin/openapi-ts'))) {
    writeFileSync(join(tools, 'package.json'), '{"private": true}');
    await execute('npm', ['install', '--no-audit', '--no-fund', ...NODE_PACKAGES], {}, tools);
  }
  return join(tools, 'node_modules/.bin');
}

async function installPythonPackages(tools: string): Promise<string> {
  const environment = join(tools, 'python');
  if (!existsSync(join(environment, 'bin/openapi-generator-cli'))) {
    await execute('python3', ['-m', 'venv', environment]);
    await execute(join(environment, 'bin/pip'), ['install', '-q', ...PYTHON_PACKAGES]);
  }
  return join(environment, 'bin');
}

function emptyFolder(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}

/** Runs a program. Throws with its output if it fails. */
async function execute(
  program: string,
  args: string[],
  environment: Record<string, string> = {},
  cwd?: string,
): Promise<void> {
  const env = { ...process.env, ...environment };
  await promisify(execFile)(program, args, { env, cwd, maxBuffer: 64 * 1024 * 1024 });
}
