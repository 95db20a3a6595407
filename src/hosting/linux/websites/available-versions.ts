import { PermanentHostError } from '../../contract/errors.ts';
import type { WordPressCores } from '../../wordpress/cores.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { findPhpRuntimes, type PhpRuntime } from '../machine/php-runtimes.ts';

/** PHP and WordPress versions that this host has for websites. A version of null means the newest. */
export interface AvailableVersions {
  /** Rejects with a {@link PermanentHostError} that lists the available versions. */
  php(version: string | null): Promise<PhpRuntime>;
  /** Rejects likewise, for WordPress. */
  wordpress(version: string | null): Promise<string>;
}

export function createAvailableVersions(
  layout: LinuxLayout,
  cores: Pick<WordPressCores, 'list'>,
): AvailableVersions {
  return {
    async php(version) {
      const available = await findPhpRuntimes(layout);
      const runtime = version === null ? available[0] : available.find((other) => other.version === version);
      return (
        runtime ??
        refuse(
          'PHP',
          version,
          available.map((other) => other.version),
        )
      );
    },
    async wordpress(version) {
      const held = await cores.list();
      const core = version === null ? held[0] : held.find((other) => other === version);
      return core ?? refuse('WordPress', version, held);
    },
  };
}

function refuse(what: string, version: string | null, available: string[]): never {
  const wanted = version === null ? what : `${what} ${version}`;
  throw new PermanentHostError(`this host has no ${wanted}; available: ${available.join(', ') || 'none'}`);
}
