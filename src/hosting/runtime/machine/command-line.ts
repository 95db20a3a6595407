import type { PhpProgram, PhpScript } from '../wasm/php-sites.ts';
import { SETTINGS } from './php-settings.ts';
import { CLI } from './sandbox.ts';
import { JOB } from './website-sandbox.ts';

/** A command of PHP, and the files of its job. */
interface CommandStart {
  files: Record<string, string>;
  command: string[];
  environment: Record<string, string>;
}

const INI = ['-c', `${SETTINGS}/php.ini`];
const ARGUMENTS = 'arguments.json';

/** Runs a script of the platform as a separate request would run. */
export function scriptStart({ code, host, https }: PhpScript): CommandStart {
  const [, name = '', port] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  return {
    files: { 'script.php': code },
    command: [CLI, ...INI, `${JOB}/script.php`],
    environment: {
      HTTP_HOST: host,
      ...(https ? { HTTPS: 'on' } : {}),
      REQUEST_METHOD: 'POST',
      REQUEST_SCHEME: https ? 'https' : 'http',
      REQUEST_URI: '/',
      REMOTE_ADDR: '127.0.0.1',
      SERVER_NAME: name,
      SERVER_PORT: port ?? (https ? '443' : '80'),
      SERVER_PROTOCOL: 'HTTP/1.1',
    },
  };
}

/** Runs a program. Only its path and its settings of PHP are on the command line, which other users of the machine can read. */
export function programStart(
  { arguments: given, environment, prepend }: PhpProgram,
  before: string,
): CommandStart {
  const settings: string[] = [];
  let at = 0;
  for (; given[at] === '-d'; at += 2) settings.push('-d', given[at + 1] ?? '');
  const [path = '', ...rest] = given.slice(at);
  return {
    files: {
      [ARGUMENTS]: JSON.stringify({ environment, arguments: [path, ...rest] }),
      'prepend.php': `<?php require '${SETTINGS}/machine.php'; ?>${before}\n${prepend}`,
    },
    command: [CLI, ...INI, '-d', `auto_prepend_file=${JOB}/prepend.php`, ...settings, path],
    environment: {},
  };
}
