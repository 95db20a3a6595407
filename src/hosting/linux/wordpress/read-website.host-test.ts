import { isLong } from '../../../../test/rounds.ts';
import { cronCases } from '../../websites/cron/cron-cases.fixture.ts';
import { readingCases } from '../../websites/reading/reading-cases.fixture.ts';
import { urlCases } from '../../websites/urls/url-cases.fixture.ts';
import { startOperatedWebsite } from './operated-website.fixture.ts';

readingCases(startOperatedWebsite, (website) => {
  cronCases(website);
  if (isLong) urlCases(website);
});
