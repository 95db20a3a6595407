import { expect, test } from 'vitest';
import { CAMPAIGN_PARAMETERS, locationWithCampaign, splitCampaign } from './campaign-parameters.ts';
import { CAMPAIGN_CASES, LOCATION_CASES } from './page-cases.fixture.ts';

test('campaign parameters leave the address, and nothing else does', () => {
  for (const [asked, uri, campaign] of CAMPAIGN_CASES) {
    expect(splitCampaign(asked), asked).toEqual({ uri, campaign });
  }
  for (const name of CAMPAIGN_PARAMETERS) {
    expect(splitCampaign(`/?a&${name}=1`)).toEqual({ uri: '/?a', campaign: `${name}=1` });
  }
});

test('a redirect to the same host gets them back', () => {
  for (const [location, campaign, expected] of LOCATION_CASES) {
    expect(locationWithCampaign(location, 'shop.test:8080', campaign), location).toBe(expected);
  }
});
