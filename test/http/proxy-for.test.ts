// Which requests go through a proxy: the environment in upper and lower case, and what NO_PROXY excepts.
import { expect, test } from 'vitest';
import { proxyFor } from '../../src/api/http/way-out.ts';
import { noProxies, proxiesIn } from '../../src/core/egress.ts';

test.each([
  ['*', 'https://a.example', false],
  ['example.com', 'https://example.com', false],
  ['example.com', 'https://api.Example.com.', false],
  ['.example.com', 'https://api.example.com', false],
  ['*.example.com', 'https://api.example.com', false],
  ['example.com', 'https://badexample.com', true],
  ['other.example, example.com', 'https://example.com', false],
  ['example.com:8443', 'https://example.com', true],
  ['example.com:8443', 'https://example.com:8443', false],
  ['example.com:443', 'https://example.com', false],
  ['127.0.0.1,localhost', 'http://127.0.0.1:7030', false],
  ['10.0.0.0/8', 'http://10.1.2.3', false],
  ['10.0.0.0/8', 'http://11.1.2.3', true],
  ['10.', 'http://10.1.2.3', false],
  ['192.168.*', 'http://192.168.7.1', false],
  ['10.', 'http://110.1.2.3', true],
  ['::1', 'http://[::1]:7030', false],
  ['[::1]:7030', 'http://[::1]:7030', false],
  ['fd00::/8', 'http://[fd12::1]', false],
  ['', 'http://localhost', true],
  ['nonsense/64, 1.2.3.4/99', 'http://1.2.3.4', true],
])('NO_PROXY %j, %s: through the proxy %s', (excepted, url, through) => {
  const { proxies } = proxiesIn({ HTTP_PROXY: 'http://p:1', HTTPS_PROXY: 'http://p:2', NO_PROXY: excepted });
  const expected = url.startsWith('https:') ? 'http://p:2/' : 'http://p:1/';
  expect(proxyFor(url, proxies)?.href ?? null).toBe(through ? expected : null);
});

test('lower case comes first, an empty variable is none, and a name without a scheme is http', () => {
  const both = { https_proxy: 'proxy.example:3128', HTTPS_PROXY: 'http://other', no_proxy: '', NO_PROXY: '*' };
  expect(proxyFor('https://a.example', proxiesIn(both).proxies)?.href).toBe('http://proxy.example:3128/');
  expect(proxyFor('http://a.example', proxiesIn(both).proxies)).toBe(null);
  expect(proxyFor('https://a.example', proxiesIn({ ...both, https_proxy: '' }).proxies)).toBe(null);
  expect(proxyFor('https://a.example', noProxies)).toBe(null);
});

test('a proxy that speaks no HTTP is not used, and is named', () => {
  expect(proxiesIn({ HTTPS_PROXY: 'socks5://p:1', http_proxy: 'http://p:1/path' })).toEqual({
    proxies: noProxies,
    unusable: ['http_proxy', 'HTTPS_PROXY'],
  });
});
