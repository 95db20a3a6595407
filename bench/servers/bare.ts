import { readFileSync } from 'node:fs';
import fastify from 'fastify';

// The cost of the framework alone: one HTTPS route that returns a given JSON through a response schema.
// Arguments: port, certificate file, key file, file with { schema, body }.
const [port, cert, key, answer] = process.argv.slice(2);
const { schema, body } = JSON.parse(readFileSync(String(answer), 'utf8'));
const app = fastify({ https: { cert: readFileSync(String(cert)), key: readFileSync(String(key)) } });
app.get('/v1/installs/:id', { schema: { response: { 200: schema } } }, async () => body);
app.get('/', async () => 'ready');
await app.listen({ host: '127.0.0.1', port: Number(port) });
