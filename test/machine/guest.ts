import { setTimeout as pause } from 'node:timers/promises';
import { text } from '../client.ts';
import type { Machine } from './machine.ts';
import { PROGRAM } from './machine-image.ts';

/** Homeport on a machine, used as its operator and a customer use it. */
export interface Guest {
  /** Runs `homeport …` as the control plane's user and gives what it printed. Rejects if it fails. */
  homeport(...words: string[]): Promise<string>;
  /** Asks the API for a path below `/v1`. Rejects for an answer that is no success. */
  api(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Makes credentials for the API, which {@link api} uses from now on. `email`: the first user if left out. */
  signIn(email?: string): Promise<void>;
  /** The value of `Authorization` with these credentials. */
  authorization(): string;
  /** The first account of the user who signed in. */
  accountId(): string;
  /** Asks for an install and gives its id. */
  createInstall(name: string): Promise<string>;
  installStatus(id: string): Promise<string>;
  /** Asks for a backup of an install and gives its id. */
  createBackup(installId: string): Promise<string>;
  backupStatus(installId: string, backupId: string): Promise<string>;
  /** What a visitor of an install sees: the body of a page. Rejects for another status than 200. */
  page(name: string, path?: string): Promise<string>;
}

const SETTINGS = '/etc/homeport/homeport.conf';
/** As the documentation of the Linux host installs it. */
const IN_CLONE = `${PROGRAM}/bin/homeport.mjs`;
const API = 'https://localhost:8443/v1';
const CERTIFICATE = '/var/lib/homeport/tls/api.crt';
const EDGE = 8080;
const LOOK_EVERY_MS = 1_000;
const ANSWER_SECONDS = 300;

/** `runMs`: how long a command may take. */
export function guestOf(machine: Machine, runMs: number, program = IN_CLONE): Guest {
  let credential: { username: string; password: string } | null = null;
  let accountId = '';

  const run = (line: string, input?: string) => machine.run('root', line, { input, timeoutMs: runMs });

  function homeport(...words: string[]): Promise<string> {
    const command = ['sudo', '-u', 'homeport', program, '--config', SETTINGS, ...words];
    return machine.run('admin', command.map(quoted).join(' '), { timeoutMs: runMs });
  }

  async function api(method: string, path: string, body?: unknown): Promise<unknown> {
    if (credential === null) throw new Error('signIn() comes first');
    // curl reads the password from its standard input: other users see arguments.
    const config = {
      url: `${API}${path}`,
      request: method,
      user: `${credential.username}:${credential.password}`,
      header: 'Content-Type: application/json',
      ...(body === undefined ? {} : { data: JSON.stringify(body) }),
    };
    const lines = Object.entries(config).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
    const answer = await run(
      `curl -sS --fail-with-body --max-time ${ANSWER_SECONDS} --cacert ${CERTIFICATE} --config -`,
      lines.join(''),
    );
    const parsed: unknown = answer === '' ? null : JSON.parse(answer);
    return parsed;
  }

  return {
    homeport,
    api,

    async signIn(email) {
      const users: unknown = JSON.parse(await homeport('user', 'list', '--json'));
      const user = email ?? text(users, 0, 'email');
      const made: unknown = JSON.parse(await homeport('credential', 'create', '--user', user, '--json'));
      credential = { username: text(made, 'username'), password: text(made, 'password') };
      accountId = text(await api('GET', '/accounts'), 'results', 0, 'id');
    },

    authorization() {
      if (credential === null) throw new Error('signIn() comes first');
      const { username, password } = credential;
      return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    },
    accountId: () => accountId,

    createInstall: async (name) =>
      text(await api('POST', '/installs', { name, account_id: accountId }), 'id'),
    installStatus: async (id) => text(await api('GET', `/installs/${id}`), 'status'),
    async createBackup(installId) {
      const wanted = { description: 'machine test', notification_emails: ['owner@example.com'] };
      return text(await api('POST', `/installs/${installId}/backups`, wanted), 'id');
    },
    backupStatus: async (installId, backupId) =>
      text(await api('GET', `/installs/${installId}/backups/${backupId}`), 'status'),

    async page(name, path = '/') {
      const host = `${name}.localhost:${EDGE}`;
      // Signed-in visitors go past the page cache, which needs neither PHP nor the database.
      const cookie = 'Cookie: wordpress_logged_in_machine=1';
      return run(
        `curl -sS --fail --max-time ${ANSWER_SECONDS} --resolve ${host}:127.0.0.1 -H '${cookie}' 'http://${host}${path}'`,
      );
    },
  };
}

/** A word for a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Resolves once `holds` gives true. Rejects after `withinMs`, naming what it waited for and the last failure. */
export async function until(what: string, withinMs: number, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (let last = 'no'; ; await pause(LOOK_EVERY_MS)) {
    try {
      if (await holds()) return;
      last = 'no';
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    if (Date.now() > deadline) throw new Error(`not within ${withinMs / 1000} s: ${what} (last: ${last})`);
  }
}
