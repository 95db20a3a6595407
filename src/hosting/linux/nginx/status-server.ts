import { MARKER_PREFIX } from '../../policy/marker.ts';
import { quoted } from './quote.ts';
import { renderText } from './well-known.ts';

/** Where nginx says whose it is, whatever its configuration. */
export const ALIVE_PATH = `${MARKER_PREFIX}alive`;

/** What it says there. */
export function aliveText(instance: string): string {
  return `homeport nginx ${instance}\n`;
}

/** Where nginx says which configuration it runs with. */
export function generationPath(generation: string): string {
  return `${MARKER_PREFIX}generation/${generation}`;
}

/** What it says there. */
export function generationText(generation: string): string {
  return `homeport generation ${generation}\n`;
}

/**
 * The server that says it: behind a Unix socket, since a website may have any name that could be asked for at the addresses of
 * the edge. `generation` is the location that says which configuration it is.
 */
export function renderStatusServer(socket: string, instance: string, generation: string): string {
  return `server {
    listen ${quoted(`unix:${socket}`)};
    server_name _;
${generation}
${renderText(ALIVE_PATH, aliveText(instance))}
    location / {
        return 404;
    }
}`;
}
