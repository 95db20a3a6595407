import type { CaaRecord } from './record.ts';

export function caaRefusal(
  _name: string,
  _caa: CaaRecord[],
  _authority: { identities: string[]; accountUrl: string | null },
): string | null {
  throw new Error('not built yet');
}
