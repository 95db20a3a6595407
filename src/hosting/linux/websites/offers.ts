import { PermanentHostError } from '../../contract/host.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { findPhpRuntimes, type PhpRuntime } from '../machine/php-runtimes.ts';
import type { WordPressCores } from '../wordpress/cores.ts';

/** What a website of this host can run on. A version of null asks for the newest. */
export interface Offers {
  /** Rejects with a {@link PermanentHostError} that says what there is. */
  php(version: string | null): Promise<PhpRuntime>;
  /** The same, for a version of WordPress. */
  wordpress(version: string | null): Promise<string>;
}

export function createOffers(layout: LinuxLayout, cores: Pick<WordPressCores, 'list'>): Offers {
  return {
    async php(version) {
      const offered = await findPhpRuntimes(layout);
      const runtime = version === null ? offered[0] : offered.find((other) => other.version === version);
      return (
        runtime ??
        refuse(
          'PHP',
          version,
          offered.map((other) => other.version),
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

function refuse(what: string, version: string | null, there: string[]): never {
  const wanted = version === null ? what : `${what} ${version}`;
  throw new PermanentHostError(`${wanted} is not on this host; there is: ${there.join(', ') || 'none'}`);
}
