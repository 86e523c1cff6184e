#!/usr/bin/env bash
# One would expect: an interim answer (103 Early Hints, 102 Processing) before the real one is passed over by a client that does not know it, as HTTP
# obliges each client to.
# What happens: Python's http.client passes over 100 alone. urllib3 returns 103 with an empty body as the answer, requests calls it `ok`, and urllib raises
# an HTTPError. The 200 behind it is not read. aiohttp and httpx, which have parsers of their own, return the 200. So a proxy that
# starts to send hints ends every poll of a client on http.client, without an error where requests is used with raise_for_status().
# Versions: urllib3 2.8.0, requests 2.34.2, httpx 0.28.1, aiohttp 3.14.5 (PyPI), Python 3.11 (urllib 3.12 and 3.13, too). Date: 2026-11-28.
# Source: RFC 9110, 15.2; HTTPResponse.begin in Lib/http/client.py of CPython leaves its loop at the first status that is not 100.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
python3 -m venv py
py/bin/pip install --quiet --disable-pip-version-check urllib3==2.8.0 requests==2.34.2 httpx==0.28.1 aiohttp==3.14.5
cat >ask.py <<'PY'
import asyncio, socket, sys, threading, urllib.request
import aiohttp, httpx, requests, urllib3

def serve(listener, interim):
    while True:
        connection, _ = listener.accept()
        connection.recv(4096)
        connection.sendall(f'HTTP/1.1 {interim}\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndata'.encode())
        connection.close()

def with_requests(url):
    response = requests.get(url)
    response.raise_for_status()
    return response.status_code, response.text

async def with_aiohttp(url):
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return response.status, await response.text()

def of(response):
    return response.status, response.read().decode()

clients = {
    'urllib': lambda url: of(urllib.request.urlopen(url)),
    'urllib3': lambda url: (lambda response: (response.status, response.data.decode()))(urllib3.request('GET', url, retries=False)),
    'requests': with_requests,
    'httpx': lambda url: (lambda response: (response.status_code, response.text))(httpx.get(url)),
    'aiohttp': lambda url: asyncio.run(with_aiohttp(url)),
}
for interim in ['100 Continue', '102 Processing', '103 Early Hints\r\nLink: </style.css>; rel=preload']:
    listener = socket.create_server(('127.0.0.1', 0))
    threading.Thread(target=serve, args=(listener, interim), daemon=True).start()
    for name, ask in clients.items():
        try:
            seen = '%d %r' % ask(f'http://127.0.0.1:{listener.getsockname()[1]}/')
        except Exception as error:
            seen = type(error).__name__
        print(f'{interim[:3]}, then 200: {name} returns {seen}')
PY
py/bin/python ask.py | tee seen
diff - seen <<'E2'
100, then 200: urllib returns 200 'data'
100, then 200: urllib3 returns 200 'data'
100, then 200: requests returns 200 'data'
100, then 200: httpx returns 200 'data'
100, then 200: aiohttp returns 200 'data'
102, then 200: urllib returns HTTPError
102, then 200: urllib3 returns 102 ''
102, then 200: requests returns 102 ''
102, then 200: httpx returns 200 'data'
102, then 200: aiohttp returns 200 'data'
103, then 200: urllib returns HTTPError
103, then 200: urllib3 returns 103 ''
103, then 200: requests returns 103 ''
103, then 200: httpx returns 200 'data'
103, then 200: aiohttp returns 200 'data'
E2
