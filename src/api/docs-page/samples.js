/**
 * Writes one request in several languages. The programs read the credential from HOMEPORT_API_USERNAME and
 * HOMEPORT_API_PASSWORD, and need nothing but the language (PHP: its curl extension).
 *
 * @param {{ method: string, url: string, body?: unknown, anonymous?: boolean }} request
 * @returns {{ language: string, source: string }[]}
 */
export function samplesOf(request) {
  const json = request.body === undefined ? undefined : JSON.stringify(request.body, null, 2);
  const parts = { ...request, json };
  return [
    { language: 'curl', source: curl(parts) },
    { language: 'JavaScript', source: javascript(parts) },
    { language: 'Python', source: python(parts) },
    { language: 'PHP', source: php(parts) },
  ];
}

/** The request of an operation with the examples of its parameters and its body. `api`: the address of the API. */
export function requestOf(api, description, path, method) {
  const operation = description.paths[path][method];
  const parameters = operation.parameters ?? [];
  const filled = parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce(
      (text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(example ?? name)),
      path,
    );
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && (parameter.example ?? '') !== '')
    .map(({ name, example }) => `${name}=${encodeURIComponent(example)}`);
  return {
    method: method.toUpperCase(),
    url: `${api}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`,
    body: operation.requestBody?.content['application/json']?.example,
    anonymous: operation.security?.length === 0,
  };
}

/** The single-quoted form of a text in a POSIX shell. */
const shellQuoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function curl({ method, url, json, anonymous }) {
  const lines = [`curl --request ${method} ${shellQuoted(url)}`];
  if (!anonymous) lines.push('--user "$HOMEPORT_API_USERNAME:$HOMEPORT_API_PASSWORD"');
  if (json !== undefined)
    lines.push("--header 'Content-Type: application/json'", `--data ${shellQuoted(json)}`);
  return lines.join(' \\\n  ');
}

function javascript({ method, url, json, anonymous }) {
  const headers = [];
  if (!anonymous) headers.push("    Authorization: 'Basic ' + credential,");
  if (json !== undefined) headers.push("    'Content-Type': 'application/json',");
  const options = [`  method: ${JSON.stringify(method)},`];
  if (headers.length > 0) options.push('  headers: {', ...headers, '  },');
  if (json !== undefined) options.push(`  body: JSON.stringify(${json.replaceAll('\n', '\n  ')}),`);
  return [
    ...(anonymous
      ? []
      : [
          'const { HOMEPORT_API_USERNAME, HOMEPORT_API_PASSWORD } = process.env;',
          "const credential = btoa(HOMEPORT_API_USERNAME + ':' + HOMEPORT_API_PASSWORD);",
        ]),
    `const response = await fetch(${JSON.stringify(url)}, {`,
    ...options,
    '});',
    'console.log(response.status, await response.text());',
  ].join('\n');
}

function python({ method, url, json, anonymous }) {
  const lines = anonymous
    ? ['import urllib.request', '']
    : [
        'import base64, os, urllib.request',
        '',
        "pair = f\"{os.environ['HOMEPORT_API_USERNAME']}:{os.environ['HOMEPORT_API_PASSWORD']}\"",
      ];
  lines.push(`request = urllib.request.Request(${JSON.stringify(url)}, method="${method}")`);
  if (!anonymous)
    lines.push('request.add_header("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())');
  if (json !== undefined) {
    lines.push('request.add_header("Content-Type", "application/json")', `request.data = br"""${json}"""`);
  }
  lines.push(
    'with urllib.request.urlopen(request) as response:',
    '    print(response.status, response.read().decode())',
  );
  return lines.join('\n');
}

/** The single-quoted form of a text in PHP. */
const phpQuoted = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function php({ method, url, json, anonymous }) {
  const options = [`    CURLOPT_CUSTOMREQUEST => '${method}',`, '    CURLOPT_RETURNTRANSFER => true,'];
  if (!anonymous) {
    options.push(
      "    CURLOPT_USERPWD => getenv('HOMEPORT_API_USERNAME') . ':' . getenv('HOMEPORT_API_PASSWORD'),",
    );
  }
  if (json !== undefined) {
    options.push(
      "    CURLOPT_HTTPHEADER => ['Content-Type: application/json'],",
      `    CURLOPT_POSTFIELDS => ${phpQuoted(json)},`,
    );
  }
  return [
    '<?php',
    `$request = curl_init(${phpQuoted(url)});`,
    'curl_setopt_array($request, [',
    ...options,
    ']);',
    '$answer = curl_exec($request);',
    "echo curl_getinfo($request, CURLINFO_RESPONSE_CODE), ' ', $answer, PHP_EOL;",
  ].join('\n');
}
