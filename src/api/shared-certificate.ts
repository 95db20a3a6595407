import type { Platform } from '../platform/platform.ts';
import type { CertificatePair } from './secure-listener.ts';

/** The self-signed certificate in the database, for all processes of a platform. */
export interface SharedCertificate {
  read(): Promise<CertificatePair | null>;
  /** Stores a pair in place of `former`. Returns the stored one, which another process may have stored first. */
  replace(former: CertificatePair | null, pair: CertificatePair): Promise<CertificatePair>;
}

export function createSharedCertificate({
  database,
  sealer,
  log,
}: Pick<Platform, 'database' | 'sealer' | 'log'>): SharedCertificate {
  const find = () => database.reader.selectFrom('api_certificate').selectAll().executeTakeFirst();

  function opened(row: { certificate: string; sealed_key: string }): CertificatePair | null {
    try {
      return { cert: row.certificate, key: sealer.open(row.sealed_key) };
    } catch (err) {
      log.warn({ err }, "the key of the API's certificate cannot be opened, so another one is made");
      return null;
    }
  }

  return {
    async read() {
      const row = await find();
      return row === undefined ? null : opened(row);
    },

    async replace(former, { cert, key }) {
      const stored = { certificate: cert, sealed_key: sealer.seal(key) };
      await database.write(async ({ queries }) => {
        // Null also for one that cannot be opened.
        const present = await queries.selectFrom('api_certificate').select('sealed_key').executeTakeFirst();
        const isLost =
          former === null && present !== undefined && opened({ certificate: '', ...present }) === null;
        await queries
          .updateTable('api_certificate')
          .set(stored)
          .where('certificate', isLost ? '<>' : '=', isLost ? '' : (former?.cert ?? ''))
          .execute();
        await queries
          .insertInto('api_certificate')
          .values({ one: 1, ...stored })
          .onConflict((conflict) => conflict.column('one').doNothing())
          .execute();
      });
      const row = await find();
      return (row === undefined ? null : opened(row)) ?? { cert, key };
    },
  };
}
