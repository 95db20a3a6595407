import type { S3Client } from '@aws-sdk/client-s3';
import { proxyOfAgents } from '../../../lib/outbound-proxy.ts';
import type { RepositoryStorage, S3Credentials, S3Place } from './repository-storage.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const PROGRESS_TIMEOUT_MS = 60_000;
const ATTEMPTS = 4;

/** A repository in S3. Loads the client library at first use, because that is slow. */
export function s3Storage(place: S3Place, credentials: S3Credentials): RepositoryStorage {
  const { bucket } = place;
  const keyOf = (name: string) => `${place.prefix}/${name}`;

  async function withClient<Result>(work: (client: S3Client) => Promise<Result>): Promise<Result> {
    const client = await connect(place, credentials);
    try {
      return await work(client);
    } finally {
      client.destroy();
    }
  }

  return {
    has: (name) =>
      withClient(async (client) => {
        const { HeadObjectCommand } = await import('@aws-sdk/client-s3');
        try {
          await client.send(new HeadObjectCommand({ Bucket: bucket, Key: keyOf(name) }));
          return true;
        } catch (error) {
          // Without the right to list, S3 answers 403 for missing objects; the first write reports that.
          if (error instanceof Error && (error.name === 'NotFound' || error.name === 'NoSuchKey'))
            return false;
          throw error;
        }
      }),

    write: (name, content) =>
      withClient(async (client) => {
        const { PutObjectCommand } = await import('@aws-sdk/client-s3');
        await client.send(new PutObjectCommand({ Bucket: bucket, Key: keyOf(name), Body: content }));
      }),

    removeAll: () =>
      withClient(async (client) => {
        const { DeleteObjectCommand, ListObjectsV2Command } = await import('@aws-sdk/client-s3');
        for (;;) {
          const listed = await client.send(
            new ListObjectsV2Command({ Bucket: bucket, Prefix: `${place.prefix}/` }),
          );
          const keys = (listed.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
          if (keys.length === 0) return;
          // The configuration goes last, so that an interrupted removal can be repeated.
          const last = keyOf('config');
          const first = keys.filter((key) => key !== last);
          for (const key of first.length > 0 ? first : keys) {
            await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
          }
        }
      }),
  };
}

async function connect({ endpoint, region }: S3Place, credentials: S3Credentials): Promise<S3Client> {
  const { S3Client } = await import('@aws-sdk/client-s3');
  return new S3Client({
    region,
    endpoint,
    // Like restic: only Amazon's buckets have their own host names.
    forcePathStyle: !new URL(endpoint).hostname.endsWith('.amazonaws.com'),
    credentials,
    maxAttempts: ATTEMPTS,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: PROGRESS_TIMEOUT_MS,
      httpAgent: proxyOfAgents(),
      httpsAgent: proxyOfAgents(),
    },
  });
}
