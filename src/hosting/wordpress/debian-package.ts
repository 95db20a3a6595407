import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MINUTE_MS } from '../../lib/durations.ts';
import { runCommand } from '../../lib/run-command.ts';
import { PermanentHostError } from '../contract/errors.ts';
import { copyPlain } from './core-tree.ts';

const TIMEOUT_MS = 5 * MINUTE_MS;

/** Debian replaces libraries in WordPress by links into these packages. Not every release has all of them. */
const LIBRARIES = [
  'libjs-cropper',
  'libjs-jquery-ui',
  'libjs-lodash',
  'libjs-underscore',
  'libphp-phpmailer',
  'node-lodash',
  'php-getid3',
];

/** Debian's package links to the machine's own certificates. No package contains them, so the file of the machine is used. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Downloads Debian's WordPress with its themes and the libraries that it links to, and assembles them in `to`, a new folder.
 * Installs nothing, because the package depends on Apache. apt verifies the downloads against the archive's keys.
 *
 * @param scratch a folder to work in, which the caller removes
 * @throws PermanentHostError if this machine's apt has no package wordpress
 */
export async function fetchDebianWordPress(scratch: string, to: string): Promise<void> {
  const archives = join(scratch, 'archives');
  const root = join(scratch, 'root');
  await mkdir(archives, { mode: 0o700 });
  await mkdir(root, { mode: 0o700 });
  const packages = await packagesToFetch();
  await runCommand(
    'apt-get',
    // As root, because only root can use the folder; apt would warn if its own user could not.
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

/** Themes of the same version only: those of another Debian release are for another WordPress. */
async function packagesToFetch(): Promise<string[]> {
  const candidates = await candidatesOf([
    'wordpress',
    ...LIBRARIES,
    ...(await namesBeginningWith('wordpress-theme-')),
  ]);
  const version = candidates.get('wordpress');
  if (version === undefined) {
    throw new PermanentHostError(
      'apt has no package wordpress on this machine: run `apt-get update`, or set HOMEPORT_WORDPRESS_SOURCE to a folder or an archive',
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

/** Name to version, of the packages that can be installed. */
async function candidatesOf(names: readonly string[]): Promise<Map<string, string>> {
  const { stdout } = await runCommand('apt-cache', ['policy', ...names]);
  return candidatesIn(stdout);
}

/** Parses the output of `apt-cache policy`. */
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
