/** A 400 response with one fault, for `toMatchObject`. */
export function refusal(
  place: `${string}.${string}`,
  kind: `${string} / ${string}`,
  message: string,
  summary = message,
) {
  const dot = place.indexOf('.');
  const [type, code] = kind.split(' / ');
  const fault = { resource: place.slice(0, dot), field: place.slice(dot + 1), type, code, message };
  return { status: 400, body: { message: summary, errors: [fault] } };
}

/** The specified message of a 400 without a list of faults. */
export const NOT_FOUND = { status: 404, body: { message: 'Resource not found' } };
export const FORBIDDEN = {
  status: 403,
  body: { message: 'Insufficient permissions to access this resource' },
};
