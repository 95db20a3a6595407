import { FORWARDED_HEADERS, METHOD_OVERRIDES } from '../../policy/forwarded-headers.ts';

/**
 * FastCGI parameters that replace those headers; they need the maps of {@link renderMethodMaps}. `address`: the variable with the
 * visitor's address.
 */
export function renderForwardedHeaders(address = '$remote_addr'): string {
  return [
    ...FORWARDED_HEADERS.map((name) => `fastcgi_param ${parameterOf(name)} "" if_not_empty;`),
    `fastcgi_param HTTP_X_FORWARDED_FOR ${address};`,
    ...METHOD_OVERRIDES.map(
      (name) => `fastcgi_param ${parameterOf(name)} ${keptVariable(name)} if_not_empty;`,
    ),
  ].join('\n');
}

/** Removes method overrides from requests whose answers can be cached. */
export function renderMethodMaps(): string {
  return METHOD_OVERRIDES.map(
    (name) => `map $request_method ${keptVariable(name)} {
    default $${variableName(name)};
    GET "";
    HEAD "";
}`,
  ).join('\n');
}

/** The FastCGI parameter of a request header. */
export function parameterOf(header: string): string {
  return `HTTP_${header.toUpperCase().replaceAll('-', '_')}`;
}

/** The variable of a request header, without `$`. */
export function variableName(header: string): string {
  return `http_${header.toLowerCase().replaceAll('-', '_')}`;
}

function keptVariable(header: string): string {
  return `$kept_${variableName(header)}`;
}
