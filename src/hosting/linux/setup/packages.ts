import { rm, writeFile } from 'node:fs/promises';
import { hasCode } from '../../../lib/error-code.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { CommandError, runCommand } from '../../../lib/run-command.ts';
import { PHP_PACKAGES } from '../machine/php-extensions.ts';

/** Packages without which nginx refuses the edge's configuration. */
const EDGE_PACKAGES = ['nginx', 'libnginx-mod-http-lua', 'lua-cjson'] as const;

/**
 * Packages that the Linux host needs on Debian 12 or 13, the tools of the shells included. The packages of PHP install the release's own
 * version.
 */
const PACKAGES: readonly string[] = [
  ...EDGE_PACKAGES,
  'libnginx-mod-http-brotli-filter',
  ...PHP_PACKAGES.map((name) => `php-${name}`),
  'mariadb-server',
  'mariadb-client',
  'adminer',
  'redis-server',
  'restic',
  'openssh-server',
  'bubblewrap',
  'acl',
  'nftables',
  'libnss-extrausers',
  'unzip',
  'xz-utils',
  'ca-certificates',
  'git',
  'rsync',
  'less',
  'nano',
  'zstd',
  'iproute2',
];

/** Retries, because a mirror can fail once and a freshly started machine may still be updating itself. */
export const PATIENTLY = ['-o', 'Acquire::Retries=3', '-o', 'DPkg::Lock::Timeout=300'] as const;

const POLICY = '/usr/sbin/policy-rc.d';

/** Asks dpkg for the states of packages; tests have their own. */
type Query = typeof dpkgQuery;

/** Packages that this machine lacks. Throws OperatorError if it is not Debian. */
export async function missingPackages(query: Query = dpkgQuery): Promise<string[]> {
  const installed = await installedPackages(query);
  return PACKAGES.filter((name) => !installed.has(name));
}

/** Throws OperatorError if this machine lacks a package of the edge, for example after an upgrade without set-up. */
export async function requireEdgePackages(query: Query = dpkgQuery): Promise<void> {
  const installed = await installedPackages(query);
  const missing = EDGE_PACKAGES.filter((name) => !installed.has(name));
  if (missing.length === 0) return;
  throw new OperatorError(
    `The web server needs Debian packages that this machine lacks: ${missing.join(', ')}. Run "homeport host setup", then start this again.`,
  );
}

async function installedPackages(query: Query): Promise<Set<string>> {
  const { stdout } = await query().catch((error: unknown) => {
    if (error instanceof CommandError && error.status === 1) return { stdout: error.stdout };
    throw new OperatorError('This machine has no dpkg: the Linux host runs on Debian 12 or 13.', {
      cause: error,
    });
  });
  const lines = stdout.split('\n').filter((line) => line.startsWith('installed '));
  return new Set(lines.map((line) => line.slice('installed '.length)));
}

/** dpkg's placeholders, written so that linters do not take them for template literals. */
const STATUS_FORMAT = ['$', '{db:Status-Status} ', '$', '{Package}\\n'].join('');

function dpkgQuery(): Promise<{ stdout: string }> {
  return runCommand('dpkg-query', ['--show', '--showformat', STATUS_FORMAT, ...PACKAGES]);
}

/** Installs packages without starting their services; services.ts keeps them from starting later. */
export async function installPackages(names: string[]): Promise<void> {
  const ours = await forbidStarts();
  const environment = { DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await runCommand('apt-get', [...PATIENTLY, 'update', '--quiet'], { environment, timeoutMs: 600_000 });
    await runCommand(
      'apt-get',
      [...PATIENTLY, 'install', '--yes', '--quiet', '--no-install-recommends', ...names],
      { environment, timeoutMs: 1_800_000 },
    );
  } finally {
    if (ours) await rm(POLICY, { force: true });
  }
}

/** Debian runs this script before it starts a service. An existing one belongs to the operator, and stays. */
async function forbidStarts(): Promise<boolean> {
  try {
    await writeFile(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755, flag: 'wx' });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}
