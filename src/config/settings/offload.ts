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
    '`true`: the bucket stands in the path (`endpoint/bucket/key`) and not in the host name',
    trueOrFalse,
  ),
  s3Credentials: optional(
    'HOMEPORT_S3_CREDENTIALS',
    'none: unsigned requests',
    '`access key id:secret access key` with which buckets are read',
    s3Credentials,
  ),
};
