import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyInstance } from 'fastify';
import mime from 'mime-types';

/** The compressed forms that can be beside a file, best first. */
const FORMS = [
  { coding: 'br', ending: '.br' },
  { coding: 'gzip', ending: '.gz' },
];
const FOREVER = 'public, max-age=31536000, immutable';

/** The files of a folder. */
export interface Assets {
  names: ReadonlySet<string>;
  /** A file is read at its first use. */
  contentOf(name: string): Promise<Buffer>;
}

export async function openAssets(folder: string): Promise<Assets> {
  const contents = new Map<string, Promise<Buffer>>();
  return {
    names: new Set(await readdir(folder)),
    contentOf(name) {
      const known = contents.get(name);
      if (known !== undefined) return known;
      const content = readFile(join(folder, name));
      content.catch(() => contents.delete(name));
      contents.set(name, content);
      return content;
    },
  };
}

/**
 * Serves the present `assets` in their compressed forms. Browsers cache them forever, because their names change with their content.
 */
export function serveAssets(app: FastifyInstance, prefix: string, assets: () => Assets | undefined): void {
  app.get<{ Params: { name: string } }>(`${prefix}:name`, async (request, reply) => {
    const { name } = request.params;
    const present = assets();
    if (!present?.names.has(name)) return reply.callNotFound();
    const forms = FORMS.filter(({ ending }) => present.names.has(name + ending));
    const accepted = request.headers['accept-encoding'] ?? 'identity';
    const best = negotiate(
      accepted,
      forms.map(({ coding }) => coding),
    );
    const form = forms.find(({ coding }) => coding === best);
    if (form !== undefined) reply.header('content-encoding', form.coding);
    return reply
      .headers({ 'cache-control': FOREVER, vary: 'accept-encoding' })
      .type(mime.contentType(name) || 'application/octet-stream')
      .send(await present.contentOf(name + (form?.ending ?? '')));
  });
}
