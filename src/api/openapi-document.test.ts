import { expect, it } from 'vitest';
import { openApiDocument } from './openapi-document.ts';
import { pagedRoute, type Route, route } from './route.ts';
import { component, nullable, stringEnum, Type } from './schema.ts';

const frame = {
  info: { title: 'Title', version: '1', description: 'Text' },
  server: 'https://localhost/v1',
  securitySchemes: { basic: { type: 'http', scheme: 'basic' } },
};

const owner = component('Owner', Type.Object({ name: Type.String() }), { name: 'Ada' });
const size = component('Size', stringEnum(['small', 'large']), 'small');
const box = component(
  'Box',
  Type.Object({
    owner,
    former: nullable(owner),
    next: Type.Optional(owner),
    all: Type.Array(owner),
    size: nullable(size),
  }),
  { owner: { name: 'Ada' }, former: null, all: [], size: 'large' },
);

const boxRoute = (): Route =>
  route({
    method: 'GET',
    path: '/boxes/:box_id',
    operationId: 'getBox',
    summary: 'One box',
    tag: 'Boxes',
    errors: [404],
    success: 200,
    response: box,
    handle: () => Promise.reject(new Error('not called')),
  });

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

it('every use of a component is a reference, and null is allowed beside it', () => {
  expect(openApiDocument([boxRoute()], frame)).toMatchObject({
    paths: {
      '/boxes/{box_id}': {
        get: {
          operationId: 'getBox',
          responses: {
            200: {
              content: {
                'application/json': {
                  schema: ref('Box'),
                  example: { owner: { name: 'Ada' }, former: null, all: [], size: 'large' },
                },
              },
            },
            404: { $ref: '#/components/responses/NotFound' },
          },
        },
      },
    },
    components: {
      responses: { NotFound: { content: { 'application/json': { schema: ref('Error') } } } },
      schemas: {
        Box: {
          required: ['owner', 'former', 'all', 'size'],
          properties: {
            owner: ref('Owner'),
            former: { anyOf: [ref('Owner'), { type: 'null' }] },
            next: ref('Owner'),
            all: { type: 'array', items: ref('Owner') },
            size: { anyOf: [ref('Size'), { type: 'null' }] },
          },
        },
        Owner: { type: 'object', properties: { name: { type: 'string' } }, examples: [{ name: 'Ada' }] },
        Size: { type: 'string', enum: ['small', 'large'], examples: ['small'] },
      },
    },
  });
});

it('the serialiser sees the whole schema', () => {
  expect(JSON.parse(JSON.stringify(box))).toMatchObject({
    properties: {
      owner: { type: 'object', properties: { name: { type: 'string' } } },
      former: { type: ['object', 'null'], properties: { name: { type: 'string' } } },
      size: { type: ['string', 'null'], enum: ['small', 'large', null] },
    },
  });
});

it('a page of components is a component', () => {
  const listed = pagedRoute({
    path: '/boxes',
    operationId: 'listBoxes',
    summary: 'All boxes',
    tag: 'Boxes',
    errors: [],
    item: box,
    handle: () => Promise.reject(new Error('not called')),
  });
  expect(openApiDocument([listed, boxRoute()], frame)).toMatchObject({
    paths: { '/boxes': { get: { responses: { 200: { content: { 'application/json': {} } } } } } },
    components: {
      schemas: {
        BoxPage: { properties: { results: { items: ref('Box') } }, examples: [{ count: 1 }] },
        Box: { type: 'object' },
      },
    },
  });
});

it('a link takes the identifiers from the answer and the path', () => {
  const lid = component('Lid', Type.Object({ id: Type.String() }), { id: '7' });
  const createLid: Route = {
    ...boxRoute(),
    method: 'POST',
    path: '/boxes/:box_id/lids',
    operationId: 'createLid',
    success: 201,
    response: lid,
    link: { operationId: 'getLid', ids: { lid_id: '/id' } },
  };
  const getLid: Route = { ...boxRoute(), path: '/boxes/:box_id/lids/:lid_id', operationId: 'getLid' };
  const parameters = { box_id: '$request.path.box_id', lid_id: '$response.body#/id' };
  expect(openApiDocument([createLid, getLid], frame)).toMatchObject({
    paths: {
      '/boxes/{box_id}/lids': {
        post: { responses: { 201: { links: { getLid: { operationId: 'getLid', parameters } } } } },
      },
    },
  });
  expect(() => openApiDocument([createLid], frame)).toThrow('createLid links to an unknown operation');
});

it('an answer to PATCH that is the resource has an entity tag', () => {
  const getBox = boxRoute();
  const updateBox: Route = { ...getBox, method: 'PATCH', operationId: 'updateBox', resource: getBox };
  expect(openApiDocument([getBox, updateBox], frame)).toMatchObject({
    paths: { '/boxes/{box_id}': { patch: { responses: { 200: { headers: { ETag: {} } } } } } },
  });
});

it('two different schemas cannot have the same name', () => {
  const other = component('Owner', Type.Object({ age: Type.Integer() }), { age: 36 });
  const mixed = component('Mixed', Type.Object({ owner, other }), {
    owner: { name: 'Ada' },
    other: { age: 36 },
  });
  const getMixed: Route = { ...boxRoute(), response: mixed };
  expect(() => openApiDocument([getMixed], frame)).toThrow('two schemas have the component name Owner');
});
