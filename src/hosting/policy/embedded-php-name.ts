import type { EmbeddedPhp } from '../contract/embedded-wordpress.ts';

/** Names the PHP of websites, for a sentence. */
export function phpName({ version, engine }: Pick<EmbeddedPhp, 'version' | 'engine'>): string {
  return `PHP ${version} ${engine === 'machine' ? 'of this machine' : 'as WebAssembly'}`;
}

/** Why websites do not run on the PHP of the machine, as a sentence; null if they do, or if nothing else was asked for. */
export function whyWasm({ engine, notMachine }: Pick<EmbeddedPhp, 'engine' | 'notMachine'>): string | null {
  return engine === 'machine' || notMachine === null
    ? null
    : `They do not use the PHP of this machine: ${notMachine}.`;
}
