import type { HostFigures } from '../contract/figures.ts';
import type { EdgeCounts } from '../policy/usage/edge-counts.ts';
import type { EmbeddedWordPress } from './wordpress/embedded-wordpress.ts';

const MIB = 1024 * 1024;

/** What the embedded host counted since its start. `wordpress`: null if it runs no PHP. */
export function embeddedFigures(
  counts: Pick<EdgeCounts, 'figures'>,
  wordpress: Pick<EmbeddedWordPress, 'php' | 'requests'> | null,
): HostFigures {
  if (wordpress === null) return { edge: counts.figures(), php: null, lateCron: 0 };
  const { running, memoryMb, memoryLimitMb, restarts, waiting } = wordpress.php.figures;
  return {
    edge: counts.figures(),
    php: {
      running,
      memoryBytes: memoryMb * MIB,
      memoryLimitBytes: memoryLimitMb * MIB,
      restarts,
      waiting,
    },
    lateCron: wordpress.requests.lateCron(),
  };
}
