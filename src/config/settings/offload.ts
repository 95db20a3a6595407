import { optional, setting } from './setting.ts';
import { s3Credentials, trueOrFalse, url } from './setting-values.ts';

/** The object storage that media are offloaded to. */
export const OFFLOAD_SETTINGS = {
  s3Endpoint: optional(
    'HOMEPORT_S3_ENDPOINT',
    'AWS',
    'object storage for media offload, S3 protocol',
    url(['https:', 'http:']),
  ),
  s3PathStyle: setting(
    'HOMEPORT_S3_PATH_STYLE',
    'false',
    '`true`: the bucket is part of the path (`endpoint/bucket/key`) instead of the host name',
    trueOrFalse,
  ),
  s3Credentials: optional(
    'HOMEPORT_S3_CREDENTIALS',
    'none: unsigned requests',
    '`access key id:secret access key` for reading buckets',
    s3Credentials,
  ),
};
