/** A fault from the schema validator. */
export interface ValidatorError {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}

const FORMATS: Record<string, string> = {
  email: 'must be an e-mail address',
  'date-time': 'must be a date and time like 2026-01-31T12:00:00Z',
};

const TYPES: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/** The rule that a field breaks, to follow the field's name. The validator's messages assume knowledge of JSON Schema. */
export function ruleOf({ keyword, params, message }: ValidatorError): string {
  const of = (name: string): unknown => Reflect.get(params, name);
  switch (keyword) {
    case 'format':
      return FORMATS[String(of('format'))] ?? 'is not in the right format';
    case 'pattern':
      return 'is not in the right format';
    case 'minLength':
      return `must have at least ${of('limit')} characters`;
    case 'maxLength':
      return `must have at most ${of('limit')} characters`;
    case 'minItems':
      return `must have at least ${counted(of('limit'), 'element')}`;
    case 'maxItems':
      return `must have at most ${counted(of('limit'), 'element')}`;
    case 'minimum':
      return `must be at least ${of('limit')}`;
    case 'maximum':
      return `must be at most ${of('limit')}`;
    case 'enum':
      return `must be one of: ${listOf(of('allowedValues')).join(', ')}`;
    case 'type':
      return `must be ${listOf(of('type'))
        .map((type) => TYPES[type] ?? type)
        .join(' or ')}`;
    default:
      return message;
  }
}

const listOf = (value: unknown): string[] => (Array.isArray(value) ? value : [value]).map(String);

const counted = (count: unknown, thing: string) => `${count} ${thing}${count === 1 ? '' : 's'}`;
