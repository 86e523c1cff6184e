// Two certificates for localhost with their keys, made by `openssl req -x509 -nodes -days 36500`. Nothing trusts them.
import { connect } from 'node:tls';

export const firstCertificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUJjwv9l6Os8HdvIrKzoqqZr/UfycwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjEwMDgyMloYDzIxMjYxMDI5
MTAwODIyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQ4QXlfAbqoWn909FdMxg6tn5oJEheGQBxfrQ3arTJi61/S+kVowP9Q
vdQmWgN/QEg4qln8N2SdGa0MdM+o0Bf7o28wbTAdBgNVHQ4EFgQUWuws45lvuAQ2
cTfso3pbaEz9YDowHwYDVR0jBBgwFoAUWuws45lvuAQ2cTfso3pbaEz9YDowDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhAIY60rRC28UC/pIeeM9f3SRLq1f0oLLw854YzLv7rCy8AiAF
T1jWJmUB+oFKAH+gCKlfbqK7C8CHnsDm9Bs6Dg6zfg==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQ2HFpnJdlVqjTBOz
Lg6coS6vPsJFIWdw61o0UZHktGOhRANCAAQ4QXlfAbqoWn909FdMxg6tn5oJEheG
QBxfrQ3arTJi61/S+kVowP9QvdQmWgN/QEg4qln8N2SdGa0MdM+o0Bf7
-----END PRIVATE KEY-----
`,
};

export const secondCertificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUZslx8FTpXLgpN1vh2D2uTbF4eQMwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjEwMDgyMloYDzIxMjYxMDI5
MTAwODIyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARsKSY90kbAWhXiPT52/i9rIVk+xm7fKf7tTJf7FnvYZ4o1mhWAKp7k
SfMC1GZBXo0pgM9qvR5Va8u+VyOJjcKzo28wbTAdBgNVHQ4EFgQUDuHlsRMV0xeg
EtKEum5uz0j1S3cwHwYDVR0jBBgwFoAUDuHlsRMV0xegEtKEum5uz0j1S3cwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDRwAwRAIgJy52fajRPfY7m4QsKVycra9GQWpz8+wT+68BjJRNu18CIHh7
7L11pADpLEYRrjKoXK+NI0NMWGSNqg0dcm1bCC+D
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBhSD5DonaEGOpv/J
fV5b8w/SdBZtpK/ZJfPLeSiGugShRANCAARsKSY90kbAWhXiPT52/i9rIVk+xm7f
Kf7tTJf7FnvYZ4o1mhWAKp7kSfMC1GZBXo0pgM9qvR5Va8u+VyOJjcKz
-----END PRIVATE KEY-----
`,
};

/** The certificate that a new connection is shown, as PEM. */
export function certificateOf(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      const der = socket.getPeerCertificate().raw.toString('base64');
      socket.destroy();
      resolve(`-----BEGIN CERTIFICATE-----\n${der.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----`);
    });
    socket.on('error', reject);
  });
}
