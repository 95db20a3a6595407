import type { S3Client } from '@aws-sdk/client-s3';
import { proxyOfAgents } from '../../../lib/outbound-proxy.ts';
import type { RepositoryStorage, S3Credentials, S3Place } from './repository-storage.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const PROGRESS_TIMEOUT_MS = 60_000;
const ATTEMPTS = 4;

/** A repository in S3. Loads the client library at first use, because that is slow. */
export function s3Storage(place: S3Place, credentials: S3Credentials): RepositoryStorage {
  const { bucket } = place;
  const keyOf = (name: string) => [place.prefix, name].filter((part) => part !== '').join('/');
  /** The prefix of the keys in a folder. */
  const folderOf = (name: string) => (keyOf(name) === '' ? '' : `${keyOf(name)}/`);

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

    list: (name) =>
      withClient(async (client) => {
        const { ListObjectsV2Command } = await import('@aws-sdk/client-s3');
        const prefix = folderOf(name);
        const names: string[] = [];
        let token: string | undefined;
        do {
          const page = await client.send(
            new ListObjectsV2Command({
              ...{ Bucket: bucket, Prefix: prefix, Delimiter: '/', ContinuationToken: token },
            }),
          );
          for (const { Key = '' } of page.Contents ?? []) names.push(Key.slice(prefix.length));
          for (const { Prefix = '' } of page.CommonPrefixes ?? [])
            names.push(Prefix.slice(prefix.length, -1));
          token = page.NextContinuationToken;
        } while (token !== undefined);
        return [...new Set(names)].filter((found) => found !== '');
      }),

    read: (name, { offset, length }) =>
      withClient(async (client) => {
        const { GetObjectCommand } = await import('@aws-sdk/client-s3');
        const range = `bytes=${offset}-${offset + length - 1}`;
        try {
          const { Body } = await client.send(
            new GetObjectCommand({ Bucket: bucket, Key: keyOf(name), Range: range }),
          );
          return Buffer.from((await Body?.transformToByteArray()) ?? []);
        } catch (error) {
          if (!(error instanceof Error)) throw error;
          if (error.name === 'NotFound' || error.name === 'NoSuchKey') return null;
          // The part begins at the end of the file.
          if (error.name === 'InvalidRange') return Buffer.alloc(0);
          throw error;
        }
      }),

    write: (name, content) =>
      withClient(async (client) => {
        const { PutObjectCommand } = await import('@aws-sdk/client-s3');
        await client.send(new PutObjectCommand({ Bucket: bucket, Key: keyOf(name), Body: content }));
      }),

    remove: (name) =>
      withClient(async (client) => {
        const { DeleteObjectCommand } = await import('@aws-sdk/client-s3');
        await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: keyOf(name) }));
      }),

    removeAll: () =>
      withClient(async (client) => {
        const { DeleteObjectCommand, ListObjectsV2Command } = await import('@aws-sdk/client-s3');
        for (;;) {
          const listed = await client.send(
            new ListObjectsV2Command({ Bucket: bucket, Prefix: folderOf('') }),
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
