import { requestOf, samplesOf } from './samples.js';

/** The API at the address where this page was opened, which need not be the public URL in the description. */
const api = new URL('../v1', location.href).href;

/** Shows each operation as a request in several languages, above its parameters. */
function requestExamples() {
  return {
    wrapComponents: {
      parameters:
        (Parameters, { React, specSelectors }) =>
        (props) =>
          React.createElement(
            React.Fragment,
            null,
            React.createElement(Examples, {
              React,
              samples: samplesOf(requestOf(api, specSelectors.specJson().toJS(), ...props.pathMethod)),
            }),
            React.createElement(Parameters, props),
          ),
    },
  };
}

function Examples({ React, samples }) {
  const [language, choose] = React.useState(samples[0].language);
  const shown = samples.find((sample) => sample.language === language);
  const tab = (sample) =>
    React.createElement(
      'button',
      {
        key: sample.language,
        type: 'button',
        role: 'tab',
        'aria-selected': sample.language === language,
        onClick: () => choose(sample.language),
      },
      sample.language,
    );
  return React.createElement(
    'div',
    { className: 'request-examples' },
    React.createElement('h4', null, 'Request examples'),
    React.createElement('div', { role: 'tablist', 'aria-label': 'Language' }, samples.map(tab)),
    React.createElement(
      'pre',
      { role: 'tabpanel', 'aria-label': 'Request example', tabIndex: 0 },
      shown.source,
    ),
  );
}

const answer = await fetch(`${api}/swagger`);
const description = await answer.json();
window.SwaggerUIBundle({
  spec: { ...description, servers: [{ url: api }] },
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [requestExamples],
});
