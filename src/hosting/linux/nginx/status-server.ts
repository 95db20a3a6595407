import { MARKER_PREFIX } from '../../policy/marker.ts';
import { quoted } from './quote.ts';
import { renderText } from './well-known.ts';

/** Path where nginx reports which host it belongs to, whatever its configuration. */
export const ALIVE_PATH = `${MARKER_PREFIX}alive`;

/** The answer at that path. */
export function aliveText(instance: string): string {
  return `homeport nginx ${instance}\n`;
}

/** Path where nginx reports its configuration. */
export function generationPath(generation: string): string {
  return `${MARKER_PREFIX}generation/${generation}`;
}

/** The answer at that path. */
export function generationText(generation: string): string {
  return `homeport generation ${generation}\n`;
}

/**
 * The server for these paths. It is behind a Unix socket, because a website may have any name that a request to the public
 * addresses could use. `generation` is the location that reports the configuration.
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
