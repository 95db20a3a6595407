import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createFileSender, type Download } from '../../../api/send-file.ts';
import { isBackupPath } from '../../../hosting/contract/backup-path.ts';
import type { Host } from '../../../hosting/contract/host.ts';
import { parseUuid } from '../../../lib/ids.ts';
import type { ArchiveService } from '../archives/service.ts';
import type { BackupBrowsingService } from '../browsing/service.ts';
import { DOWNLOAD_PATH, FILES_PATH } from '../download-links.ts';

export interface DownloadsOptions {
  archives: Pick<ArchiveService, 'findByLink' | 'mayContinue'>;
  files: Pick<BackupBrowsingService, 'findByLink' | 'read' | 'mayContinue'>;
  /** Reads from the host of an install. */
  readPacked: Host['readPacked'];
  /** Counts a request by its address. */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Milliseconds after which a client that reads nothing is disconnected. */
  stallMs?: number;
}

/** Serves archives and single files of backups to everyone with a signed link, whole or in ranges. Reads them piece by piece from their host. */
export function backupDownloads({ archives, files, readPacked, admit, stallMs }: DownloadsOptions) {
  const send = createFileSender(stallMs);

  async function findArchive(request: FastifyRequest): Promise<Download | null> {
    const link = linkOf(request, 'archive_id');
    const found = link && (await archives.findByLink(link.id, link));
    if (!found) return null;
    const { id, install, bytes, sha256, created_at } = found;
    return {
      id,
      bytes,
      etag: `"${sha256}"`,
      contentType: 'application/gzip',
      fileName: `${install.name}-${created_at.slice(0, 10)}.tar.gz`,
      what: 'archive',
      read: (part) => readPacked(install, id, part),
      mayContinue: () => archives.mayContinue(id),
    };
  }

  async function findFile(request: FastifyRequest): Promise<Download | null> {
    const link = linkOf(request, 'backup_id');
    const path = textOf(request.query, 'path');
    if (link === null || path === undefined || !isBackupPath(path)) return null;
    const found = await files.findByLink(link.id, path, link);
    if (found === null) return null;
    return {
      id: `${link.id}/${path}`,
      bytes: found.size,
      etag: `"${found.etag}"`,
      // An unknown type, so that no browser runs the file.
      contentType: 'application/octet-stream',
      fileName: path.slice(path.lastIndexOf('/') + 1),
      what: 'file',
      read: (part) => files.read(found, part),
      mayContinue: () => files.mayContinue(link.id),
    };
  }

  return async (app: FastifyInstance): Promise<void> => {
    for (const [url, find] of [
      [`${DOWNLOAD_PATH}/:archive_id`, findArchive],
      [`${FILES_PATH}/:backup_id`, findFile],
    ] as const) {
      app.route({
        method: ['GET', 'HEAD'],
        url,
        exposeHeadRoute: false,
        onRequest: admit,
        handler: (request, reply) => send(request, reply, () => find(request)),
      });
    }
  };
}

function linkOf(
  { params, query }: FastifyRequest,
  name: string,
): { id: string; expires: string; signature: string } | null {
  const id = parseUuid(textOf(params, name) ?? '');
  const [expires, signature] = [textOf(query, 'expires'), textOf(query, 'signature')];
  if (id === undefined || expires === undefined || signature === undefined) return null;
  return { id, expires, signature };
}

/** A parameter that was given once. */
function textOf(parameters: unknown, name: string): string | undefined {
  const value: unknown =
    typeof parameters === 'object' && parameters !== null ? Reflect.get(parameters, name) : undefined;
  return typeof value === 'string' ? value : undefined;
}
