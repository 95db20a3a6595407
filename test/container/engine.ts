import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../src/lib/error-message.ts';
import { OperatorError } from '../../src/lib/operator-error.ts';
import { runCommand, succeeds } from '../../src/lib/run-command.ts';

/** Docker or Podman, and its tool for compose files. */
export interface Engine {
  /** Its name, version, and differences from its usual settings. */
  name: string;
  /** Runs a command of the engine, such as `build`, and returns its output. */
  run(words: readonly string[], options?: EngineOptions): Promise<string>;
  /** What a container wrote. */
  logs(container: string): Promise<string>;
  /** Runs a command of the tool for compose files in a folder. */
  compose(folder: string, words: readonly string[]): Promise<string>;
  /** A compose file of a folder as the tool understands it, with the settings of `.env`. Starts nothing. */
  read(folder: string, file: string): Promise<string>;
  /** Whether a container is healthy. */
  isHealthy(container: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface EngineOptions {
  folder?: string;
  input?: Buffer;
}

const PROJECT = 'homeport-test';
/** Downloads and builds on a busy machine. */
const TIMEOUT_MS = 3_600_000;
const MOST = 32_768;
const LIMITS_FILE = '/proc/self/limits';
const NOTHING = `Nothing was tested: there is no engine that runs containers here.
Install Docker with its plugin for compose files, or Podman: apt-get install podman podman-compose crun runc
`;

/**
 * The engine of this machine. `base` names an image to try it with, which `load` brings into it. Throws an OperatorError if no engine
 * runs containers, with what each one said.
 */
export async function findEngine(base: string, load: (engine: Engine) => Promise<void>): Promise<Engine> {
  const failures: string[] = [];
  for (const find of [docker, podman]) {
    const found = await find();
    if (typeof found === 'string') {
      failures.push(found);
      continue;
    }
    for (const engine of found) {
      try {
        await load(engine);
        await engine.run(['run', '--rm', base, 'true']);
        return engine;
      } catch (error) {
        failures.push(`${engine.name}: ${messageOf(error)}`);
        await engine.close();
      }
    }
  }
  throw new OperatorError(NOTHING + failures.map((failure) => `  ${failure}\n`).join(''));
}

async function docker(): Promise<Engine[] | string> {
  if (!(await succeeds('docker', ['version']))) return 'docker: there is no server that answers';
  if (!(await succeeds('docker', ['compose', 'version']))) return 'docker: the plugin "compose" is missing';
  const version = await output('docker', ['version', '--format', '{{.Server.Version}}']);
  const compose = ['docker', 'compose', '--project-name', PROJECT];
  const engine = engineOf(`Docker ${version}`, ['docker'], compose, {}, async () => {});
  const health = ['inspect', '--format', '{{.State.Health.Status}}'];
  return [
    {
      ...engine,
      read: (folder, file) => engine.compose(folder, ['--file', file, 'config']),
      isHealthy: async (one) => (await engine.run([...health, one])) === 'healthy',
    },
  ];
}

/** Podman as it is set up, then with what a machine without cgroup v2, or without the right to raise limits, needs. */
async function podman(): Promise<Engine[] | string> {
  if (!(await succeeds('podman', ['--version']))) return 'podman: it is not installed';
  if (!(await succeeds('podman-compose', ['--help']))) return 'podman: podman-compose is missing';
  const version = (await output('podman', ['--version'])).replace('podman version ', '');
  const limits = await presentLimits();
  const settings = {
    '': '',
    'the limits of this process': `[containers]\ndefault_ulimits = ${limits}\n`,
    'runc, and the limits of this process': `[containers]\ndefault_ulimits = ${limits}\n[engine]\nruntime = "runc"\n`,
  };
  return Promise.all(
    Object.entries(settings).map(async ([difference, text]) => {
      const name = `Podman ${version}${difference === '' ? '' : ` with ${difference}`}`;
      if (difference === '') return engineOf(name, ['podman'], PODMAN_COMPOSE, {}, async () => {});
      const folder = await mkdtemp(join(tmpdir(), 'homeport-engine-'));
      const file = join(folder, 'containers.conf');
      await writeFile(file, text);
      const remove = () => rm(folder, { recursive: true });
      return engineOf(name, ['podman'], PODMAN_COMPOSE, { CONTAINERS_CONF: file }, remove);
    }),
  );
}

const PODMAN_COMPOSE = ['podman-compose', '--project-name', PROJECT];

/** As those of this process, which need no right to be set, but below what Podman gives its own child. */
async function presentLimits(): Promise<string> {
  const text = await readFile(LIMITS_FILE, 'utf8');
  const limitOf = (name: string) => {
    const [, hard = ''] = new RegExp(`^${name} +\\d+ +(\\d+)`, 'm').exec(text) ?? [];
    return hard === '' ? MOST : Math.min(MOST, Number(hard));
  };
  const limits = { nofile: limitOf('Max open files'), nproc: limitOf('Max processes') };
  return JSON.stringify(Object.entries(limits).map(([name, limit]) => `${name}=${limit}:${limit}`));
}

function engineOf(
  name: string,
  [program = '', ...first]: string[],
  [composer = '', ...project]: string[],
  environment: Record<string, string>,
  close: () => Promise<void>,
): Engine {
  const usual = { environment: { HOME: process.env.HOME ?? '/root', ...environment }, timeoutMs: TIMEOUT_MS };
  const engine: Engine = {
    name,
    run: async (words, options = {}) =>
      (await runCommand(program, [...first, ...words], { ...usual, ...options })).stdout.trim(),
    async logs(container) {
      const { stdout, stderr } = await runCommand(program, [...first, 'logs', container], usual);
      return stdout + stderr;
    },
    compose: async (folder, words) =>
      (await runCommand(composer, [...project, ...words], { ...usual, folder })).stdout,
    // podman-compose of Debian 12 has no `config`. It makes volumes even so.
    async read(folder, file) {
      const words = [...project, '--file', file];
      const options = { ...usual, folder };
      const up = await runCommand(composer, [...words, '--dry-run', 'up', '-d', '--no-build'], options);
      await runCommand(composer, [...words, 'down', '--volumes'], options);
      return up.stdout + up.stderr;
    },
    // Podman leaves the intervals to systemd, and this runs the check now.
    isHealthy: async (one) => (await engine.run(['healthcheck', 'run', one])) === '',
    close,
  };
  return engine;
}

async function output(program: string, words: string[]): Promise<string> {
  return (await runCommand(program, words)).stdout.trim();
}
