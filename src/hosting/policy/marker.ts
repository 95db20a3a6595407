import { parseUuid } from '../../lib/ids.ts';

/**
 * Where the edge says that it serves an install in just this state. Nothing of a customer is ever served below it.
 */
export const MARKER_PREFIX = '/.well-known/homeport/';

export interface Marker {
  installId: string;
  /** Of the vhost file. */
  revision: string;
}

export function markerPath({ installId, revision }: Marker): string {
  return `${MARKER_PREFIX}${installId}/${revision}`;
}

/** The edge's answer at the marker path, specific enough that no other server gives it by chance. */
export function markerText({ installId, revision }: Marker): string {
  return `homeport ${installId} ${revision}\n`;
}

/** The marker that a request path below {@link MARKER_PREFIX} asks about, or null if it is none. */
export function parseMarker(path: string): Marker | null {
  const [installId, revision, ...rest] = path.slice(MARKER_PREFIX.length).split('/');
  if (installId === undefined || parseUuid(installId) !== installId) return null;
  return revision === undefined || rest.length > 0 ? null : { installId, revision };
}
