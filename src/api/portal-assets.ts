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

/**
 * Serves the files of a folder in their compressed forms. Browsers cache them forever, because their names change with their content. A
 * file is read at its first use.
 */
export async function serveAssets(app: FastifyInstance, prefix: string, folder: string): Promise<void> {
  const names = new Set(await readdir(folder));
  const contents = new Map<string, Promise<Buffer>>();
  const contentOf = (name: string): Promise<Buffer> => {
    const known = contents.get(name);
    if (known !== undefined) return known;
    const content = readFile(join(folder, name));
    content.catch(() => contents.delete(name));
    contents.set(name, content);
    return content;
  };

  app.get<{ Params: { name: string } }>(`${prefix}:name`, async (request, reply) => {
    const { name } = request.params;
    if (!names.has(name)) return reply.callNotFound();
    const forms = FORMS.filter(({ ending }) => names.has(name + ending));
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
      .send(await contentOf(name + (form?.ending ?? '')));
  });
}
