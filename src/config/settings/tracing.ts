import { optional, setting } from './setting.ts';
import { baseUrl, ConfigError, hiding, oneOf, trueOrFalse, type ValueParser } from './setting-values.ts';

/** Pairs of a name and a value. */
export type NamedTexts = Readonly<Record<string, string>>;

/** Pairs like `name=value`, separated by commas. Values are percent-encoded. Messages repeat no value, because some are secret. */
const pairs = (text: string, variable: string): NamedTexts => {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  return Object.fromEntries(
    parts.map((part): [string, string] => {
      const sign = part.indexOf('=');
      const name = part.slice(0, Math.max(sign, 0)).trim();
      try {
        const value = decodeURIComponent(part.slice(sign + 1).trim());
        if (/^[^\s"()/:;<=>?@[\\\]{}]+$/.test(name) && !/[\r\n\0]/.test(value)) return [name, value];
      } catch {
        // Falls through to the same message: the part is malformed.
      }
      throw new ConfigError(
        `${variable} must be pairs like name=value, separated by commas, with values percent-encoded.`,
      );
    }),
  );
};

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

const headers = hiding('all', (text, variable): NamedTexts => {
  const given = pairs(text, variable);
  const isHeader = ([name, value]: [string, string]) => HEADER_NAME.test(name) && /^[\t -~]*$/.test(value);
  if (Object.entries(given).every(isHeader)) return given;
  throw new ConfigError(`${variable} has a header with characters that HTTP does not allow.`);
});

const ratio: ValueParser<number> = (text, variable) => {
  const value = Number(text);
  if (/^[\d.]+$/.test(text) && value <= 1) return value;
  throw new ConfigError(`${variable} must be a number from 0 to 1; it is "${text}".`);
};

/** The samplers of OpenTelemetry that need nothing but the trace. */
const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;
export type Sampler = (typeof SAMPLERS)[number];

/** Traces, by the names that OpenTelemetry gives to their settings. */
export const TRACING_SETTINGS = {
  otlpEndpoint: optional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'none: no traces',
    'address of an OpenTelemetry collector. Traces go to `/v1/traces` below it, as OTLP over HTTP in JSON',
    baseUrl,
  ),
  otlpTracesEndpoint: optional(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'none',
    'the whole address for traces, if it differs',
    baseUrl,
  ),
  otlpHeaders: optional(
    'OTEL_EXPORTER_OTLP_HEADERS',
    'none',
    'headers for the collector, such as a token: `name=value`, comma-separated, values percent-encoded',
    headers,
  ),
  otlpServiceName: optional(
    'OTEL_SERVICE_NAME',
    'the `service.name` of the next setting, else `homeport`',
    'name of this service in traces. The process of a Linux host adds `-host`',
    (text) => text,
  ),
  otlpResource: optional(
    'OTEL_RESOURCE_ATTRIBUTES',
    'none',
    'attributes of all spans: `name=value`, comma-separated, values percent-encoded',
    pairs,
  ),
  tracesSampler: setting(
    'OTEL_TRACES_SAMPLER',
    'parentbased_always_on',
    `which traces are recorded: ${SAMPLERS.map((one) => `\`${one}\``).join(', ')}`,
    oneOf(SAMPLERS),
  ),
  tracesSamplerRatio: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    '1',
    'share of the traces that a sampler with a ratio records, from 0 to 1',
    ratio,
  ),
  otelDisabled: setting('OTEL_SDK_DISABLED', 'false', '`true` switches traces off', trueOrFalse),
};

type TracingSettings = {
  [Name in keyof typeof TRACING_SETTINGS]: ReturnType<(typeof TRACING_SETTINGS)[Name]['read']>;
};

/** Where traces go; null if they are off. */
export function tracesUrl(
  config: Pick<TracingSettings, 'otlpEndpoint' | 'otlpTracesEndpoint' | 'otelDisabled'>,
): string | null {
  if (config.otelDisabled) return null;
  if (config.otlpTracesEndpoint !== null) return config.otlpTracesEndpoint;
  return config.otlpEndpoint === null ? null : `${config.otlpEndpoint}/v1/traces`;
}
