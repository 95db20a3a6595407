import { IsObject, type Static, type TObject, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { FAULTS_TOLD, type Fault, INVALID_PARAMETERS, InvalidRequest } from '../lib/failures.ts';
import { byField } from '../lib/field-order.ts';
import { INVISIBLE, isBlank } from '../lib/invisible-characters.ts';
import { isReordered } from '../lib/one-line.ts';
import { cutToBounds, itemsOf } from '../lib/schema-bounds.ts';
import { withStoredEmails } from './email-texts.ts';
import { ruleOf, type ValidatorError } from './fault-rules.ts';
import { malformedId } from './resource-names.ts';

/** The messages for one kind of fault of one field (docs/api.md, Errors). */
export interface FaultText {
  /** Message of the answer, above the list of faults; the general message by default. */
  summary?: string;
  /** Message of the item in the list. */
  message: string;
  /** Code of the item, if it differs from the usual one of the kind of fault. */
  code?: string;
}

type FaultKind = 'required' | 'invalid' | 'too_long';

/** Schema of a request body, and the messages for its faults. */
export interface BodyDefinition<Schema extends TObject = TObject> {
  /** The `resource` of the faults. */
  resource: string;
  schema: Schema;
  /** The member that wraps the fields. Only one endpoint has one. */
  wrapper?: string;
  /** The specification's messages, by field. Other faults have general messages. */
  texts?: Record<string, Partial<Record<FaultKind, FaultText>>>;
  /**
   * The service's rules for texts, by field. Applied only if the body violates the schema, so that one answer lists all faults.
   * For a valid body the service applies its rules itself.
   */
  rules?: Record<string, TextRule>;
  /**
   * Unknown fields are ignored, except these: names that clients mistake for a field whose absence means much more than they ask for.
   * In lower case, with the message of the fault; other spellings of a name are refused, too.
   */
  mistaken?: Record<string, string>;
}

/** Returns the fault of a text, with a message for the user; undefined if the text is valid. */
export type TextRule = (text: string) => { code: string; message: string } | undefined;

/** The library stops at 8 faults by default. */
Settings.Set({ maxErrors: FAULTS_TOLD });

interface SchemaFault {
  field: string;
  kind: FaultKind;
  code: string;
  message: string;
  /** Message of the answer, if this is the first fault with one. */
  summary?: string;
}

/**
 * Creates a function that checks a parsed body against its schema. It throws {@link InvalidRequest} with all faults in the order of the
 * fields. The schema is compiled with the first body, because most processes get bodies at few endpoints.
 */
export function bodyParser<Schema extends TObject>(
  definition: BodyDefinition<Schema>,
): (body: unknown) => Static<Schema> {
  const inOrder = byField(unwrapped(definition));
  const compile = () => Compile(definition.schema);
  let compiled: ReturnType<typeof compile> | undefined;
  return (body) => {
    compiled ??= compile();
    const validator = compiled;
    const given = withWrapper(definition, body);
    // The common body fits as it is, and is not copied.
    const whole = validator.Check(given) ? given : withStoredEmails(definition.schema, given);
    const fits = validator.Check(whole);
    // An invalid body may be arbitrarily large, so it is cut to the schema's bounds before listing its faults.
    const value = fits ? whole : cutToBounds(definition.schema, whole);
    const texts = [...textsWithin(definition.schema, value, '')];
    const faults = [...unstorableFaults(definition, texts), ...mistakenFaults(definition, whole)];
    for (const error of fits ? [] : validator.Errors(value)) {
      faults.push(...schemaFaults(definition, error, valueAt(value, error.instancePath)));
    }
    if (fits && faults.length === 0) return whole;
    faults.push(...ruleFaults(definition, texts));
    throw invalidBody(definition, inOrder, faults);
  };
}

/** Treats a missing wrapper as empty, so that the answer lists every required field. */
function withWrapper(definition: BodyDefinition, body: unknown): unknown {
  const { wrapper } = definition;
  const object = body === undefined ? {} : body;
  if (wrapper === undefined || typeof object !== 'object' || object === null || Array.isArray(object))
    return object;
  return Reflect.get(object, wrapper) === undefined ? { ...object, [wrapper]: {} } : object;
}

function schemaFaults(definition: BodyDefinition, error: ValidatorError, value: unknown): SchemaFault[] {
  const path = fieldPath(definition, error.instancePath);
  if (error.keyword === 'required') {
    const missing: unknown = Reflect.get(error.params, 'requiredProperties');
    const names = Array.isArray(missing) ? missing.map(String) : [];
    return names.map((name) => {
      const field = path === '' ? name : `${path}.${name}`;
      return { field, kind: 'required', code: 'required', message: `${field} is required` };
    });
  }
  const field = path === '' ? (definition.wrapper ?? 'body') : path;
  // Null counts as missing if the field has a message for missing values.
  if (value === null && textsOf(definition, field)?.required) {
    return [{ field, kind: 'required', code: 'required', message: `${field} is required` }];
  }
  if (error.keyword === 'format' && Reflect.get(error.params, 'format') === 'uuid') {
    const summary = malformedId(field.split('.')[0] ?? field);
    return [{ field, kind: 'invalid', code: 'invalid_format', message: summary, summary }];
  }
  const message = `${field} ${ruleOf(error)}`;
  switch (error.keyword) {
    case 'minLength':
    case 'pattern':
    case 'format':
      // A blank text counts as missing (docs/api.md, Errors).
      return typeof value === 'string' && isBlank(value)
        ? [{ field, kind: 'required', code: 'required', message: `${field} cannot be empty` }]
        : [{ field, kind: 'invalid', code: 'invalid_format', message }];
    case 'maxLength':
      return [{ field, kind: 'too_long', code: 'too_long', message }];
    case 'minItems':
      return [{ field, kind: 'invalid', code: 'too_few', message }];
    case 'maxItems':
      return [{ field, kind: 'invalid', code: 'too_many', message }];
    case 'enum':
      return [{ field, kind: 'invalid', code: 'not_allowed', message }];
    default:
      return [{ field, kind: 'invalid', code: 'invalid_type', message }];
  }
}

/** Pattern of texts that contain more than white space. */
export const NOT_BLANK = `[^\\s${INVISIBLE}]`;

/** The value at a JSON pointer (RFC 6901) of the validator. */
function valueAt(body: unknown, pointer: string): unknown {
  let value = body;
  for (const name of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

/** Turns `/user/install_ids/0` into `install_ids.0`, if `user` is the wrapper. */
function fieldPath(definition: BodyDefinition, instancePath: string): string {
  const parts = instancePath.split('/').slice(1);
  if (definition.wrapper !== undefined && parts[0] === definition.wrapper) parts.shift();
  return parts.join('.');
}

function invalidBody(
  definition: BodyDefinition,
  inOrder: ReturnType<typeof byField>,
  found: SchemaFault[],
): InvalidRequest {
  const first = new Map<string, SchemaFault>();
  for (const fault of found) if (!first.has(fault.field)) first.set(fault.field, fault);
  const sorted = [...first.values()].sort(inOrder).slice(0, FAULTS_TOLD);
  const texts = sorted.map((fault) => textOf(definition, fault));
  const faults = sorted.map(
    (fault, index): Fault => ({
      resource: definition.resource,
      field: fault.field,
      type: fault.kind === 'required' ? 'missing_field' : 'invalid_value',
      code: texts[index]?.code ?? fault.code,
      message: texts[index]?.message ?? fault.message,
    }),
  );
  const summaries = sorted.map((fault, index) => texts[index]?.summary ?? fault.summary);
  return new InvalidRequest(summaries.find((summary) => summary !== undefined) ?? INVALID_PARAMETERS, faults);
}

/** The messages of a field. `domains.3.name`, in an element of a list, has those of `domains.name`. */
function textsOf(
  definition: BodyDefinition,
  field: string,
): Partial<Record<FaultKind, FaultText>> | undefined {
  return definition.texts?.[withoutIndices(field)];
}

const withoutIndices = (field: string) => field.replace(/\.\d+(?=\.|$)/g, '');

function textOf(definition: BodyDefinition, fault: SchemaFault): FaultText | undefined {
  return textsOf(definition, fault.field)?.[fault.kind];
}

/** The schema inside the wrapper. */
function unwrapped({ schema, wrapper }: BodyDefinition): TSchema {
  const properties: Record<string, TSchema> = schema.properties;
  return (wrapper === undefined ? undefined : properties[wrapper]) ?? schema;
}

/**
 * Faults of texts that the databases cannot store, or that disguise what they say. PostgreSQL refuses NUL. A lone surrogate, which JSON can
 * escape, would come back as another character. Unknown fields are not checked.
 */
function unstorableFaults(definition: BodyDefinition, texts: readonly FoundText[]): SchemaFault[] {
  return texts
    .filter(({ text }) => text.includes('\0') || !text.isWellFormed() || isReordered(text))
    .map(({ path }): SchemaFault => {
      const field = fieldPath(definition, path);
      return {
        field,
        kind: 'invalid',
        code: 'invalid_format',
        message: `${field} must be Unicode text without NUL characters and bidirectional controls`,
      };
    });
}

function mistakenFaults({ schema, mistaken }: BodyDefinition, body: unknown): SchemaFault[] {
  if (mistaken === undefined || typeof body !== 'object' || body === null) return [];
  const unknown = Object.keys(body).filter((name) => !Object.hasOwn(schema.properties, name));
  return unknown.flatMap((name): SchemaFault[] => {
    const key = name.toLowerCase();
    const message = Object.hasOwn(mistaken, key) ? mistaken[key] : undefined;
    if (message === undefined) return [];
    return [{ field: name, kind: 'invalid', code: 'unknown_field', message, summary: message }];
  });
}

function ruleFaults(definition: BodyDefinition, texts: readonly FoundText[]): SchemaFault[] {
  if (definition.rules === undefined) return [];
  const faults: SchemaFault[] = [];
  for (const { path, text } of texts) {
    const field = fieldPath(definition, path);
    const fault = definition.rules[withoutIndices(field)]?.(text);
    if (fault) faults.push({ field, kind: 'invalid', ...fault, summary: fault.message });
  }
  return faults;
}

interface FoundText {
  /** A JSON pointer (RFC 6901). */
  path: string;
  text: string;
}

/** All texts of a body that are in fields of the schema. */
function* textsWithin(schema: TSchema, value: unknown, path: string): Generator<FoundText> {
  const items = itemsOf(schema);
  if (typeof value === 'string') yield { path, text: value };
  else if (items && Array.isArray(value)) {
    for (const [index, element] of value.entries()) yield* textsWithin(items, element, `${path}/${index}`);
  } else if (IsObject(schema) && typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(schema.properties))
      yield* textsWithin(member, Reflect.get(value, name), `${path}/${name}`);
  }
}
