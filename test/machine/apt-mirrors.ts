import { OperatorError } from '../../src/lib/operator-error.ts';
import { runCommand } from '../../src/lib/run-command.ts';

/** Where this machine itself gets Debian from. URLs. */
export interface AptMirrors {
  debian: string;
  security: string;
}

/** apt's own placeholders, one line for each index of packages. */
const FORMAT = ['REPO_URI', 'LABEL'].map((name) => `$(${name})`).join(' ');

/** Reads the mirrors from apt's configuration. Throws an OperatorError if apt has no Debian archive. */
export async function aptMirrors(): Promise<AptMirrors> {
  const { stdout } = await runCommand('apt-get', [
    'indextargets',
    '--format',
    FORMAT,
    'Created-By: Packages',
  ]);
  const mirrorOf = (label: string) => new RegExp(`^(\\S+) ${label}$`, 'm').exec(stdout)?.[1];
  const [debian, security] = [mirrorOf('Debian'), mirrorOf('Debian-Security')];
  if (debian !== undefined && security !== undefined) return { debian, security };
  throw new OperatorError(
    'apt knows no Debian and Debian-Security archive; configure both on this machine and run "apt-get update".',
  );
}

/** The archives of a release as lines of sources.list(5). */
export function sourcesList({ debian, security }: AptMirrors, release: string): string {
  return [
    `deb ${debian} ${release} main`,
    `deb ${debian} ${release}-updates main`,
    `deb ${security} ${release}-security main`,
    '',
  ].join('\n');
}
