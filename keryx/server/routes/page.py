"""The page and its parts."""

from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from keryx.server.docs import docs_html

WEB = Path(__file__).parent.parent / "web"
REVALIDATE = {"Cache-Control": "no-cache"}
"""Kept by the browser, asked about each time: a new version shows at once."""

router = APIRouter(include_in_schema=False)


@router.get("/")
async def page() -> FileResponse:
    return FileResponse(WEB / "index.html", media_type="text/html; charset=utf-8", headers=REVALIDATE)


@router.get("/manifest.webmanifest")
async def manifest() -> FileResponse:
    return FileResponse(WEB / "manifest.webmanifest", media_type="application/manifest+json", headers=REVALIDATE)


@router.get("/service-worker.js")
async def service_worker() -> FileResponse:
    # Served from the top, since a service worker rules only what lies below its own address.
    return FileResponse(WEB / "service-worker.js", media_type="text/javascript", headers=REVALIDATE)


@router.get("/favicon.ico")
async def favicon() -> FileResponse:
    return FileResponse(WEB / "icon-192.png", headers=REVALIDATE)


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    return HTMLResponse(docs_html(request.app.openapi(), str(request.base_url).rstrip("/")), headers=REVALIDATE)


class PageFiles(StaticFiles):
    """The page's own files; types are fixed here, because a machine's table of file types can be wrong."""

    TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png"}

    def __init__(self) -> None:
        super().__init__(directory=WEB)

    def file_response(self, full_path, stat_result, scope, status_code: int = 200) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["Cache-Control"] = REVALIDATE["Cache-Control"]
        if kind := self.TYPES.get(Path(full_path).suffix):
            response.headers["Content-Type"] = kind if kind.startswith("image/png") else f"{kind}; charset=utf-8"
        return response
