import { component, stringEnum, Type } from '../../../api/schema.ts';
import type { BodyDefinition, FaultText } from '../../../api/validation.ts';

/** Bucket names by the rules of S3. The name becomes part of a host name, so nothing else is accepted. */
const BUCKET_PATTERN = '^(?!.*[.][.])[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$';
const REGION_PATTERN = '^[a-z0-9][a-z0-9-]{0,39}$';
/** A URL path that begins with `/`, without query, fragment, control characters and unpaired surrogates. */
const PATH_PATTERN = '^/[^\\u0000-\\u0020?#\\\\\\ud800-\\udfff]*$';

/** Limit on the paths of an install, exclusions included. Each request of the website tests them all. */
export const MOST_PATHS = 200;

const cloud = stringEnum(['s3']);
const bucket = Type.String({ pattern: BUCKET_PATTERN });
const bucketRegion = Type.String({ pattern: REGION_PATTERN });
const path = Type.String({ pattern: PATH_PATTERN, maxLength: 1024 });
const pathSettingExample = {
  path: '/uploads',
  excluded_paths: ['/uploads/private'],
  redirect_type: 'break' as const,
};
const pathSetting = component(
  'OffloadPath',
  Type.Object({
    path,
    excluded_paths: Type.Array(path, { maxItems: 100 }),
    redirect_type: stringEnum(
      ['break', 'permanent'],
      '`break`: served through the edge; `permanent`: 301 to the bucket',
    ),
  }),
  pathSettingExample,
);
const pathSettings = Type.Array(pathSetting, {
  minItems: 1,
  maxItems: 100,
  description: `At most ${MOST_PATHS} paths in total, excluded ones included`,
});

const filestoreExample = {
  cloud: 's3' as const,
  bucket: 'example-media',
  bucket_region: 'eu-central-1',
  path_settings: [pathSettingExample],
};

/** The offload settings of an install (docs/api.md, Offload). */
export const filestoreSettingsSchema = component(
  'FilestoreSettings',
  Type.Object({ cloud, bucket, bucket_region: bucketRegion, path_settings: pathSettings }),
  filestoreExample,
);

export const offloadSettingsSchema = component(
  'OffloadSettings',
  Type.Object({ filestore_settings: filestoreSettingsSchema }, { description: 'Files that a bucket serves' }),
  { filestore_settings: filestoreExample },
);

export const validationFileSchema = component(
  'OffloadValidationFile',
  Type.Object(
    { name: Type.String(), content: Type.String() },
    { description: 'Put it at the root of the bucket to prove your ownership' },
  ),
  { name: '4f1c09ab.filestore', content: '7d20e6b83fa1c954' },
);

const invalid = (message: string): { invalid: FaultText } => ({ invalid: { message } });

const texts = {
  bucket: invalid(
    'The name of a bucket is 3 to 63 lower-case letters, digits, dots and hyphens; it begins and ends with a letter or digit',
  ),
  bucket_region: invalid('A region is written in lower-case letters, digits and hyphens, like eu-central-1'),
  'path_settings.path': invalid('A path begins with / and has no spaces, ?, # or \\'),
  'path_settings.excluded_paths': invalid(
    'Excluded paths are a list; each begins with / and has no spaces, ?, # or \\',
  ),
};

export const replaceOffloadBody: BodyDefinition<typeof offloadSettingsSchema> = {
  resource: 'OffloadSettings',
  wrapper: 'filestore_settings',
  schema: offloadSettingsSchema,
  texts,
};

const changedSettings = component(
  'FilestoreSettingsChange',
  Type.Object({
    cloud: Type.Optional(cloud),
    bucket: Type.Optional(bucket),
    bucket_region: Type.Optional(bucketRegion),
    path_settings: Type.Optional(pathSettings),
  }),
  { bucket_region: 'us-east-1' },
);

const mergeSchema = component('UpdateOffloadSettings', Type.Object({ filestore_settings: changedSettings }), {
  filestore_settings: { bucket_region: 'us-east-1' },
});

export const mergeOffloadBody: BodyDefinition<typeof mergeSchema> = {
  resource: 'OffloadSettings',
  wrapper: 'filestore_settings',
  schema: mergeSchema,
  texts,
};
