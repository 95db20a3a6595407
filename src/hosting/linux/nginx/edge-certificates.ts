import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTemporary, writeDurably } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { ServedCertificate } from '../../contract/install-state.ts';
import { certificateId } from '../../policy/certificate-id.ts';
import { ensureFolder } from '../isolation/owned-folder.ts';
import { type EdgeControl, NoRoomError } from './control-client.ts';

type Pems = Pick<ServedCertificate, 'chain' | 'key'>;

/**
 * Certificates with their keys: files that only root can read, and an index of them. nginx's main process reads them at its start, and
 * gets later ones over its control socket.
 */
export interface EdgeCertificates {
  /** Creates the folder, and removes what an interrupted write left there. */
  prepare(): Promise<void>;
  /** Writes certificates for nginx's next start. */
  write(certificates: Pems[]): Promise<void>;
  /** Writes certificates, and sends those that are new to nginx. Rejects with a NoRoomError, and keeps none of the new ones, if it has no memory left. */
  add(certificates: Pems[]): Promise<void>;
  /** Gives nginx exactly the written certificates, as far as it has memory. It reports at its start which ones it lacks. */
  reconcile(): Promise<void>;
  /** Ids of the written certificates. */
  ids(): Promise<Set<string>>;
  /** Removes certificates, from nginx too. */
  remove(ids: string[]): Promise<void>;
}

const CERTIFICATE_ID = /^[0-9a-f]{32}$/;

export function createEdgeCertificates(folder: string, control: EdgeControl): EdgeCertificates {
  const fileOf = (id: string, kind: 'pem' | 'key') => join(folder, `${id}.${kind}`);
  const index = join(folder, 'index');

  async function ids(): Promise<Set<string>> {
    const text = (await ifThere(readFile(index, 'utf8'))) ?? '';
    return new Set(text.split('\n').filter((line) => CERTIFICATE_ID.test(line)));
  }

  const writeIndex = (all: Set<string>) => writeDurably(index, [...all].map((id) => `${id}\n`).join(''));

  async function read(id: string): Promise<Pems | null> {
    const chain = await ifThere(readFile(fileOf(id, 'pem'), 'utf8'));
    const key = await ifThere(readFile(fileOf(id, 'key'), 'utf8'));
    return chain === null || key === null ? null : { chain, key };
  }

  /** Returns the certificates that were missing or changed. The index comes last, so that it names whole files. */
  async function write(certificates: Pems[]): Promise<Map<string, Pems>> {
    const all = await ids();
    const written = new Map<string, Pems>();
    for (const [id, { chain, key }] of new Map(certificates.map((one) => [certificateId(one), one]))) {
      const present = await read(id);
      if (all.has(id) && present?.chain === chain && present.key === key) continue;
      await writeDurably(fileOf(id, 'key'), key);
      await writeDurably(fileOf(id, 'pem'), chain);
      written.set(id, { chain, key });
    }
    if (written.size > 0) await writeIndex(new Set([...all, ...written.keys()]));
    return written;
  }

  async function forget(some: string[]): Promise<void> {
    if (some.length === 0) return;
    await writeIndex(new Set([...(await ids())].filter((id) => !some.includes(id))));
    for (const id of some) {
      for (const kind of ['pem', 'key'] as const) await rm(fileOf(id, kind), { force: true });
    }
  }

  return {
    prepare: async () => {
      await ensureFolder(folder, { uid: 0, gid: 0, mode: 0o700 });
      await removeTemporary(folder);
    },

    async write(certificates) {
      await write(certificates);
    },

    async add(certificates) {
      const written = await write(certificates);
      try {
        for (const [id, certificate] of written) await control.addCertificate(id, certificate);
      } catch (error) {
        // The next attempt sends them again.
        await forget([...written.keys()]);
        throw error;
      }
    },

    async reconcile() {
      const [wanted, held] = [await ids(), new Set(await control.certificates())];
      for (const id of held) if (!wanted.has(id)) await control.removeCertificate(id);
      for (const id of wanted) {
        const certificate = held.has(id) ? null : await read(id);
        if (certificate !== null) await control.addCertificate(id, certificate).catch(unlessNoRoom);
      }
    },

    ids,

    async remove(some) {
      for (const id of some) await control.removeCertificate(id);
      await forget(some);
    },
  };
}

/** The other websites are served, and names without their certificate get nginx's own. */
function unlessNoRoom(error: unknown): void {
  if (!(error instanceof NoRoomError)) throw error;
}
