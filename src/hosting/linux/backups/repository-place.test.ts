import { expect, it } from 'vitest';
import { OperatorError } from '../../../lib/operator-error.ts';
import { parseS3, placeIn, repositoryRoot } from './repository-place.ts';

const ID = '0e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11';
const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };

const repositoryPlaces =
  (...given: Parameters<typeof repositoryRoot>) =>
  (id: string) =>
    placeIn(repositoryRoot(...given), id);

it('gives each install a separate repository', () => {
  expect(repositoryPlaces(null, null, '/var/backups')(ID)).toMatchObject({
    address: `/var/backups/${ID}`,
    environment: {},
  });
  expect(repositoryPlaces('/mnt/nas', null, '/var/backups')(ID).address).toBe(`/mnt/nas/${ID}`);
  const place = repositoryPlaces(
    's3:https://s3.eu-central-1.amazonaws.com/backups/homeport/',
    credentials,
    '/x',
  )(ID);
  expect(place).toMatchObject({
    address: `s3:https://s3.eu-central-1.amazonaws.com/backups/homeport/${ID}`,
    options: ['-o', 's3.region=eu-central-1'],
    environment: { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' },
  });
});

it('takes a bucket without a prefix, and the standard region elsewhere than at Amazon', () => {
  expect(parseS3('s3:http://localhost:9000/bucket')).toEqual({
    endpoint: 'http://localhost:9000',
    region: 'us-east-1',
    bucket: 'bucket',
    prefix: '',
  });
});

it.each([
  ['s3:bucket', credentials],
  ['s3:https://endpoint', credentials],
  ['s3:https://endpoint/UPPER', credentials],
  ['s3:ftp://endpoint/bucket', credentials],
  ['s3:https://user:password@endpoint/bucket', credentials],
  ['s3:https://endpoint/bucket', null],
  ['sftp:host:/folder', null],
])('refuses %s', (repository, given) => {
  expect(() => repositoryRoot(repository, given, '/x')).toThrow(OperatorError);
  expect(() => repositoryRoot(repository, given, '/x')).not.toThrow(/password/);
});

it('gives equal places equal addresses', () => {
  const addressOf = (repository: string) => repositoryRoot(repository, credentials, '/x').address;
  expect(addressOf('s3:https://endpoint/bucket/a//b/')).toBe('s3:https://endpoint/bucket/a/b');
  expect(addressOf('s3:https://ENDPOINT:443/bucket')).toBe('s3:https://endpoint/bucket');
  expect(addressOf('/mnt/nas/../nas/')).toBe('/mnt/nas');
});

it('names the option with a wrong address', () => {
  expect(() => repositoryRoot('s3:bucket', credentials, '/x', '--to')).toThrow(
    /^--to is not a valid S3 address/,
  );
  expect(() => repositoryRoot('s3:https://endpoint/bucket', null, '/x', '--to')).toThrow(
    /^--to is in S3, and its credentials are missing/,
  );
});
