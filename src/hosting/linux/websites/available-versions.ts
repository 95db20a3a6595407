import { PermanentHostError } from '../../contract/errors.ts';
import type { WordPressCores } from '../../wordpress/cores.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import {
  completingCommand,
  findPhpRuntimes,
  isComplete,
  type PhpRuntime,
  shortcoming,
} from '../machine/php-runtimes.ts';

/** PHP and WordPress versions that this host has for websites. */
export interface AvailableVersions {
  /**
   * A null means the newest that lacks no extension. A named version may lack some, because websites that run on it stay on it.
   * Rejects with a {@link PermanentHostError} that lists the available versions.
   */
  php(version: string | null): Promise<PhpRuntime>;
  /** A null means the newest. Rejects likewise. */
  wordpress(version: string | null): Promise<string>;
}

export function createAvailableVersions(
  layout: LinuxLayout,
  cores: Pick<WordPressCores, 'list'>,
  find: () => Promise<PhpRuntime[]> = () => findPhpRuntimes(layout),
): AvailableVersions {
  return {
    async php(version) {
      const installed = await find();
      const complete = installed.filter(isComplete);
      const runtime =
        version === null ? complete[0] : installed.find((candidate) => candidate.version === version);
      if (runtime !== undefined) return runtime;
      const [incomplete] = installed;
      if (version === null && incomplete !== undefined) throw noneComplete(incomplete);
      return refuse(
        'PHP',
        version,
        complete.map((candidate) => candidate.version),
      );
    },
    async wordpress(version) {
      const held = await cores.list();
      const core = version === null ? held[0] : held.find((other) => other === version);
      return core ?? refuse('WordPress', version, held);
    },
  };
}

function noneComplete(runtime: PhpRuntime): PermanentHostError {
  const reason = `PHP ${runtime.version} ${shortcoming(runtime)}`;
  return new PermanentHostError(
    `this host has no PHP for new websites: ${reason}; run "${completingCommand(runtime)}" there`,
  );
}

function refuse(what: string, version: string | null, available: string[]): never {
  const wanted = version === null ? what : `${what} ${version}`;
  throw new PermanentHostError(`this host has no ${wanted}; available: ${available.join(', ') || 'none'}`);
}
