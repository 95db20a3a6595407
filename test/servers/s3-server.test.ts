import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type S3Server, startS3Server } from './s3-server.ts';

const CREDENTIALS = { accessKeyId: 'TESTKEY', secretAccessKey: 'test/secret' };
let server: S3Server;
let client: S3Client;

beforeAll(async () => {
  server = await startS3Server({ credentials: CREDENTIALS, region: 'eu-central-1', buckets: ['media'] });
  client = clientWith(CREDENTIALS);
});

afterAll(async () => {
  client.destroy();
  await server.close();
});

function clientWith(credentials: typeof CREDENTIALS): S3Client {
  return new S3Client({
    endpoint: server.url,
    region: 'eu-central-1',
    forcePathStyle: true,
    credentials,
    maxAttempts: 1,
  });
}

test('objects are put, listed page by page, got and deleted', async () => {
  const keys = ['a b/ü.txt', 'a&b<c>', "quote'(1)", 'z'];
  for (const Key of keys) {
    await client.send(
      new PutObjectCommand({ Bucket: 'media', Key, Body: `of ${Key}`, ContentType: 'text/x' }),
    );
  }
  const first = await client.send(new ListObjectsV2Command({ Bucket: 'media', MaxKeys: 3 }));
  const second = await client.send(
    new ListObjectsV2Command({ Bucket: 'media', ContinuationToken: first.NextContinuationToken }),
  );
  const listed = [...(first.Contents ?? []), ...(second.Contents ?? [])].map(({ Key }) => Key);
  expect(listed).toEqual([...keys].sort());
  expect([first.IsTruncated, second.IsTruncated]).toEqual([true, false]);
  const prefixed = await client.send(new ListObjectsV2Command({ Bucket: 'media', Prefix: 'a b/' }));
  expect(prefixed.Contents?.map(({ Key, Size }) => [Key, Size])).toEqual([['a b/ü.txt', 13]]);

  const got = await client.send(new GetObjectCommand({ Bucket: 'media', Key: 'z' }));
  expect(got.ContentType).toBe('text/x');
  expect(await got.Body?.transformToString()).toBe('of z');
  await client.send(new DeleteObjectCommand({ Bucket: 'media', Key: 'z' }));
  await expect(client.send(new GetObjectCommand({ Bucket: 'media', Key: 'z' }))).rejects.toMatchObject({
    name: 'NoSuchKey',
  });
});

test('a wrong secret, a wrong key id and a missing signature are refused', async () => {
  const list = new ListObjectsV2Command({ Bucket: 'media' });
  await expect(clientWith({ ...CREDENTIALS, secretAccessKey: 'x' }).send(list)).rejects.toMatchObject({
    name: 'SignatureDoesNotMatch',
  });
  await expect(clientWith({ ...CREDENTIALS, accessKeyId: 'X' }).send(list)).rejects.toMatchObject({
    name: 'InvalidAccessKeyId',
  });
  const unsigned = await fetch(`${server.url}/media/a`);
  expect(unsigned.status).toBe(403);
  expect(await unsigned.text()).toContain('<Code>AccessDenied</Code>');
});

test('what was signed cannot be changed: not the path, the query, a signed header, nor the body', async () => {
  const signed: { url: string; method: string; headers: Record<string, string> }[] = [];
  const recording = clientWith(CREDENTIALS);
  recording.middlewareStack.add(
    (next) => async (args) => {
      const { request } = args;
      if (typeof request === 'object' && request !== null && 'headers' in request) {
        signed.push({ url: '', method: 'PUT', headers: Object(request).headers });
      }
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low' },
  );
  await recording.send(new PutObjectCommand({ Bucket: 'media', Key: 'fixed', Body: 'body' }));
  const { host: _host, 'content-length': _length, ...headers } = signed[0]?.headers ?? {};
  const send = async (path: string, body: string, more: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'PUT',
      headers: { ...headers, ...more },
      body,
    });
    return response.status;
  };
  expect(await send('/media/fixed?x-id=PutObject', 'body')).toBe(200);
  expect(await send('/media/other?x-id=PutObject', 'body')).toBe(403);
  expect(await send('/media/fixed?x-id=Other', 'body')).toBe(403);
  expect(await send('/media/fixed?x-id=PutObject', 'ydob')).toBe(400);
  expect(await send('/media/fixed?x-id=PutObject', 'body', { 'x-amz-user-agent': 'other' })).toBe(403);
});
