import { component, nullable, nullableString, Type } from '../../../api/schema.ts';

/** Of PHP: MiB or GiB. */
const SIZE = '^[1-9][0-9]{0,5}[MG]$';

const size = (description: string) => Type.String({ pattern: SIZE, description });
const whole = (description: string) => Type.Integer({ minimum: 1, maximum: 1_000_000, description });

const MEANINGS = {
  memory_limit: 'memory of one request, as PHP writes it: `256M`',
  upload_max_filesize:
    'largest uploaded file, `1024M` at most; `post_max_size` and the limit of the web server follow',
  max_execution_time:
    'seconds of one request: of processor time on a Linux host, of the whole request on the embedded host',
  workers: 'requests that PHP works on at once',
  max_input_vars: 'fields of one form',
};

export const phpSettingsSchema = component(
  'PhpSettings',
  Type.Object({
    memory_limit: size(MEANINGS.memory_limit),
    upload_max_filesize: size(MEANINGS.upload_max_filesize),
    max_execution_time: whole(MEANINGS.max_execution_time),
    workers: whole(MEANINGS.workers),
    max_input_vars: whole(MEANINGS.max_input_vars),
  }),
  {
    memory_limit: '256M',
    upload_max_filesize: '64M',
    max_execution_time: 120,
    workers: 10,
    max_input_vars: 5000,
  },
);

export const PHP_LIMIT_NAMES = [
  'memory_limit',
  'upload_max_filesize',
  'max_execution_time',
  'workers',
  'max_input_vars',
] as const;

export const phpSchema = component(
  'Php',
  Type.Object(
    {
      version: nullableString('`major.minor`; null until the website answers'),
      versions: Type.Array(Type.String(), { description: 'versions that the host offers, newest first' }),
      limits: nullable(phpSettingsSchema),
      custom: Type.Array(Type.String(), { description: 'names of the limits that differ from the defaults' }),
      defaults: nullable(phpSettingsSchema),
      maximums: nullable(phpSettingsSchema),
    },
    { description: 'The PHP of an install. Its limits are null if the host runs no PHP' },
  ),
  {
    version: '8.4',
    versions: ['8.4', '8.2'],
    limits: {
      memory_limit: '512M',
      upload_max_filesize: '64M',
      max_execution_time: 120,
      workers: 5,
      max_input_vars: 5000,
    },
    custom: ['memory_limit'],
    defaults: {
      memory_limit: '256M',
      upload_max_filesize: '64M',
      max_execution_time: 120,
      workers: 10,
      max_input_vars: 5000,
    },
    maximums: {
      memory_limit: '512M',
      upload_max_filesize: '1024M',
      max_execution_time: 300,
      workers: 5,
      max_input_vars: 20_000,
    },
  },
);

const sizeOrNull = (description: string) =>
  Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      pattern: SIZE,
      description: `${description}; null for the default`,
    }),
  );
const wholeOrNull = (description: string) =>
  Type.Optional(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 1,
      maximum: 1_000_000,
      description: `${description}; null for the default`,
    }),
  );

export const updatePhpSchema = component(
  'UpdatePhp',
  Type.Object({
    memory_limit: sizeOrNull(MEANINGS.memory_limit),
    upload_max_filesize: sizeOrNull(MEANINGS.upload_max_filesize),
    max_execution_time: wholeOrNull(MEANINGS.max_execution_time),
    workers: wholeOrNull(MEANINGS.workers),
    max_input_vars: wholeOrNull(MEANINGS.max_input_vars),
  }),
  { memory_limit: '512M', upload_max_filesize: '256M', workers: null },
);
