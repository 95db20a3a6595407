import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { PermanentHostError } from '../../contract/host.ts';
import { runCommand } from '../machine/run-command.ts';
import { copyPlain } from './core-tree.ts';

const TIMEOUT_MS = 5 * MINUTE_MS;

/** Debian replaces libraries in WordPress by links into these packages. Not every release has each of them. */
const LIBRARIES = [
  'libjs-cropper',
  'libjs-jquery-ui',
  'libjs-lodash',
  'libjs-underscore',
  'libphp-phpmailer',
  'node-lodash',
  'php-getid3',
];

/** The machine's own certificates, to which Debian's package links: part of no package, so they come from the machine. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Fetches Debian's WordPress, its themes and the libraries it links to, and puts them together in `to`, a new
 * folder. Nothing is installed: the package would bring Apache along. apt verifies what it fetches against the keys of the
 * archive.
 *
 * @param scratch a folder to work in, which the caller removes
 * @throws PermanentHostError if this machine's apt knows no WordPress
 */
export async function fetchDebianWordPress(scratch: string, to: string): Promise<void> {
  const archives = join(scratch, 'archives');
  const root = join(scratch, 'root');
  await mkdir(archives, { mode: 0o700 });
  await mkdir(root, { mode: 0o700 });
  const packages = await packagesToFetch();
  await runCommand(
    'apt-get',
    // As root throughout, for the folder is root's alone: apt's own user would be refused, and apt warn of it.
    ['-qq', '-o', 'APT::Sandbox::User=root', 'download', ...packages],
    { folder: archives, timeoutMs: TIMEOUT_MS },
  );
  for (const name of await readdir(archives)) {
    await runCommand('dpkg-deb', ['--extract', join(archives, name), root], { timeoutMs: TIMEOUT_MS });
  }
  await copyPlain(join(root, 'usr/share/wordpress'), to, {
    root,
    instead: { [CERTIFICATES]: CERTIFICATES },
  });
}

/** Those of one version: themes of another release of Debian are for another WordPress. */
async function packagesToFetch(): Promise<string[]> {
  const candidates = await candidatesOf([
    'wordpress',
    ...LIBRARIES,
    ...(await namesBeginningWith('wordpress-theme-')),
  ]);
  const version = candidates.get('wordpress');
  if (version === undefined) {
    throw new PermanentHostError(
      'apt knows no package wordpress on this machine: run `apt-get update`, or set HOMEPORT_WORDPRESS_SOURCE to a folder or an archive',
    );
  }
  return [...candidates.keys()].filter(
    (name) => !name.startsWith('wordpress-theme-') || candidates.get(name) === version,
  );
}

async function namesBeginningWith(prefix: string): Promise<string[]> {
  const { stdout } = await runCommand('apt-cache', ['pkgnames', prefix]);
  return stdout.split('\n').filter((name) => name !== '');
}

/** Name to version, of those that could be installed. */
async function candidatesOf(names: readonly string[]): Promise<Map<string, string>> {
  const { stdout } = await runCommand('apt-cache', ['policy', ...names]);
  return candidatesIn(stdout);
}

/** Pure: what `apt-cache policy` writes. */
export function candidatesIn(policy: string): Map<string, string> {
  const found = new Map<string, string>();
  let name = '';
  for (const line of policy.split('\n')) {
    name = /^(\S+):$/.exec(line)?.[1] ?? name;
    const version = /^ {2}Candidate: (.*)$/.exec(line)?.[1];
    if (version !== undefined && version !== '(none)') found.set(name, version);
  }
  return found;
}
