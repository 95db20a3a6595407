import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The programs that confine PHP, and their Debian packages. */
const PROGRAMS = { bwrap: 'bubblewrap', unshare: 'util-linux', nsenter: 'util-linux', mount: 'mount' };
/** Files by which Docker and Podman mark a container. */
const OF_CONTAINERS = ['/.dockerenv', '/run/.containerenv'];
/** 1 where AppArmor lets only named programs use namespaces, as on Ubuntu 24.04 and later. A container sees that of its machine. */
const RESTRICTION = 'kernel.apparmor_restrict_unprivileged_userns';
/** Longer lines of a program are cut, because the reason is part of a sentence. */
const MOST_REASON = 200;

/** This machine cannot confine PHP. The message says why, as a clause, and the remedy says what to do, as an instruction. */
export class UnconfinedError extends Error {
  override name = 'UnconfinedError';
  readonly remedy: string;

  private constructor(reason: string, remedy: string, cause: unknown) {
    super(reason, { cause });
    this.remedy = remedy;
  }

  /** From the failure of a program that confines PHP, and what the program wrote as its error. */
  static from(
    cause: unknown,
    stderr: string,
    inContainer: boolean = OF_CONTAINERS.some((file) => existsSync(file)),
    isRestricted: boolean = isOn(RESTRICTION),
  ): UnconfinedError {
    for (const [program, debianPackage] of Object.entries(PROGRAMS)) {
      if (isInstalled(program)) continue;
      const remedy = `run "apt-get install ${debianPackage}"`;
      return new UnconfinedError(`${program} is not installed`, remedy, cause);
    }
    const [line = 'the machine does not allow it'] = stderr.trim().split('\n').filter(Boolean).slice(-1);
    const remedies = [
      ...(inContainer ? ['give the container the "security_opt" of compose.yaml'] : []),
      ...(isRestricted ? [`run "sysctl ${RESTRICTION}=0" on the machine`] : []),
    ];
    const remedy = remedies.join(', ') || 'allow unprivileged user namespaces';
    return new UnconfinedError(line.slice(0, MOST_REASON), remedy, cause);
  }
}

function isOn(setting: string): boolean {
  try {
    return readFileSync(join('/proc/sys', setting.replaceAll('.', '/')), 'utf8').trim() === '1';
  } catch {
    return false;
  }
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
