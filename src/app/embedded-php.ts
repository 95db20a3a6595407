import type { Config } from '../config/config.ts';
import { wasmPhpBounds } from '../hosting/policy/wasm-php-limits.ts';
import { availableMemory } from '../lib/available-memory.ts';
import type { PhpBounds } from '../lib/php-limits.ts';

const MIB = 1024 * 1024;

/** Memory of all PHP processes of the embedded host, in MiB. */
export const phpMemoryMb = ({ embeddedPhpMb }: Pick<Config, 'embeddedPhpMb'>): number =>
  embeddedPhpMb ?? Math.floor(availableMemory() / MIB / 2);

/** The limits of PHP that websites of the embedded host can have. */
export const embeddedPhpBounds = (config: Config): PhpBounds => wasmPhpBounds(config, phpMemoryMb(config));
